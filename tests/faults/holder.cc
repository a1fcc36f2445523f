// SPDX-License-Identifier: Apache-2.0
// What the contenders of the fault suite run under the lock:
//
//   faults_holder HISTORY STAY RUN MILLISECONDS [stubborn|forking]
//
// It appends "enter RUN TOKEN NANOSECONDS PID" to HISTORY, then "alive …" every few milliseconds, and so does a
// descendant in a session of its own that ignores SIGTERM. After MILLISECONDS it ends the descendant and writes "exit
// …". If it entered before the moment that STAY begins with, it stays until the second one there: so a fault meets a
// command that would live on. A stubborn one ignores SIGTERM too. The descendant of a forking one is another
// process every millisecond, each in a session of its own, for ten seconds at the longest.
#include "signs.h"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using faults::kBetweenSigns;
using faults::kMillisecond;
using faults::now;
using faults::stay_until;

constexpr int64_t kLongestChain = 10'000 * kMillisecond;

int history = -1;
int stay = -1;
const char* run = "";
const char* token = "";

// One write for each line: nobody's can be in the midst of another's. The clock is read before.
int64_t sign(const char* what) {
  char line[256];
  const int64_t time = now();
  const int length = snprintf(line, sizeof line, "%s %s %s %" PRId64 " %d\n", what, run, token, time, getpid());
  if (write(history, line, static_cast<size_t>(length)) != length) {
    perror("faults_holder: cannot write the history");
    _exit(99);
  }
  return time;
}

// The caller ends where it has a successor.
void hand_on() {
  if (fork() > 0) _exit(0);
  setsid();
}

// Lives until it is told to end: the end of its parent alone does not count.
[[noreturn]] void be_descendant(int orders, bool forking) {
  const int64_t end = now() + kLongestChain;
  setsid();
  if (fork() != 0) _exit(0);
  signal(SIGTERM, SIG_IGN);
  pollfd order{orders, POLLIN, 0};
  char byte = 0;
  for (int64_t signed_at = 0;;) {
    if (now() >= signed_at + kBetweenSigns * kMillisecond) signed_at = sign("alive");
    poll(&order, 1, forking ? 1 : kBetweenSigns);
    if (forking && now() < end) hand_on();
    if (order.revents == 0) continue;
    if (read(orders, &byte, 1) == 1) _exit(0);
    order.fd = -1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* given = getenv("ZKLOCK_TOKEN");
  if (argc < 5 || !given) return 98;
  history = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  stay = open(argv[2], O_RDONLY | O_CLOEXEC);
  run = argv[3];
  token = given;
  const bool forking = argc > 5 && strcmp(argv[5], "forking") == 0;
  if (argc > 5 && !forking) signal(SIGTERM, SIG_IGN);
  const int64_t entered = sign("enter");
  const int64_t until = entered + atoll(argv[4]) * kMillisecond;

  int orders[2];
  int end[2];  // its writing end is the descendant's alone
  if (pipe(orders) != 0 || pipe(end) != 0) return 98;
  if (fork() == 0) {
    close(orders[1]);
    be_descendant(orders[0], forking);
  }
  close(end[1]);
  wait(nullptr);
  while (now() < until || now() < stay_until(stay, entered)) {
    sign("alive");
    poll(nullptr, 0, kBetweenSigns);
  }
  char byte = 0;
  if (write(orders[1], &byte, 1) != 1) return 98;
  static_cast<void>(read(end[0], &byte, 1));
  sign("exit");
  return 0;
}
