// SPDX-License-Identifier: Apache-2.0
// The workers of the fault suite run this for an item, which is the line on standard input:
//
//   faults_worker WORK STAY RUN
//
// It takes the kernel's lock for the item (kernel_lock.h) and appends "begin ITEM RUN NANOSECONDS PID ID ATTEMPT" to
// WORK, or "twice …" if another command has it; then "alive …" every few milliseconds, and "end …" after a time that
// the item's name gives, or "fail …". Some items stay as long as the file STAY says, some commands ignore SIGTERM. An
// item that ends in "!" fails until its third attempt, one in "!!" always.
#include "kernel_lock.h"
#include "signs.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>

namespace {

using faults::now;

constexpr int kShortest = 20;  // milliseconds
constexpr int kSpread = 200;
constexpr int kOneInStays = 3;
constexpr int kEnoughAttempts = 3;

int work = -1;
char item[256] = "";

const char* text_of(const char* variable) {
  const char* const text = getenv(variable);
  return text ? text : "-";
}

void sign(const char* what, const char* run) {
  char line[512];
  const int length = snprintf(line, sizeof line, "%s %s %s %" PRId64 " %d %s %s\n", what, item, run, now(), getpid(),
                              text_of("ZKLOCK_ITEM_ID"), text_of("ZKLOCK_ATTEMPT"));
  if (write(work, line, static_cast<size_t>(length)) != length) _exit(99);
}

// Reads only the name, up to the padding.
bool read_item() {
  const ssize_t length = read(STDIN_FILENO, item, sizeof item - 1);
  if (length <= 0) return false;
  item[strcspn(item, "\n ")] = 0;
  return item[0] != 0;
}

unsigned hash() {
  unsigned sum = 7;
  for (const char* at = item; *at; ++at) sum = sum * 31 + static_cast<unsigned char>(*at);
  return sum;
}

bool fails() {
  const size_t length = strlen(item);
  if (item[length - 1] != '!') return false;
  return item[length - 2] == '!' || atoi(text_of("ZKLOCK_ATTEMPT")) < kEnoughAttempts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || !read_item()) return 98;
  work = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  const int stay = open(argv[2], O_RDONLY | O_CLOEXEC);
  const unsigned lot = hash();
  if (lot % 2) signal(SIGTERM, SIG_IGN);
  const int64_t entered = now();
  const int64_t until = entered + (kShortest + lot % kSpread) * faults::kMillisecond;
  const bool alone = faults::lock_in_kernel(argv[1], std::string("x:") + text_of("ZKLOCK_ITEM_ID"));
  sign(alone ? "begin" : "twice", argv[3]);
  while (now() < until || (lot % kOneInStays == 0 && now() < faults::stay_until(stay, entered))) {
    poll(nullptr, 0, faults::kBetweenSigns);
    sign("alive", argv[3]);
  }
  sign(fails() ? "fail" : "end", argv[3]);
  return fails() ? 1 : 0;
}
