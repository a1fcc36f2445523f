// SPDX-License-Identifier: Apache-2.0
// The fault suite runs this under any of several locks, whose names are numbers:
//
//   faults_number NUMBERS STAY RUN MILLISECONDS [stubborn]
//
// It locks the file NUMBERS.NUMBER, which the kernel unlocks when it is dead, and appends "begin NUMBER RUN NANOSECONDS
// PID" to NUMBERS, or "twice …" if it is locked; then "alive …" now and then, and after MILLISECONDS "end …". A
// stubborn one ignores SIGTERM, and stays as long as the file STAY says.
#include "kernel_lock.h"
#include "signs.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>

namespace {

using faults::now;

constexpr int kBetweenSigns = 10 * faults::kBetweenSigns;

int numbers = -1;
std::string number;

void sign(const char* what, const char* run) {
  char line[256];
  const int length =
      snprintf(line, sizeof line, "%s %s %s %" PRId64 " %d\n", what, number.c_str(), run, now(), getpid());
  if (write(numbers, line, static_cast<size_t>(length)) != length) _exit(99);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const lock = getenv("ZKLOCK_PATH");
  if (argc < 5 || !lock || !strrchr(lock, '/')) return 98;
  number = strrchr(lock, '/') + 1;
  numbers = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  const int stay = open(argv[2], O_RDONLY | O_CLOEXEC);
  const bool stubborn = argc > 5;
  if (stubborn) signal(SIGTERM, SIG_IGN);
  const int64_t entered = now();
  const int64_t until = entered + atoll(argv[4]) * faults::kMillisecond;
  sign(faults::lock_in_kernel(argv[1], "x:" + number) ? "begin" : "twice", argv[3]);
  while (now() < until || (stubborn && now() < faults::stay_until(stay, entered))) {
    poll(nullptr, 0, kBetweenSigns);
    sign("alive", argv[3]);
  }
  sign("end", argv[3]);
  return 0;
}
