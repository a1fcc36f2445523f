// SPDX-License-Identifier: Apache-2.0
// What the contenders of the fault suite run under the lock:
//
//   faults_holder HISTORY STAY RUN MILLISECONDS [stubborn]
//
// It appends "enter RUN TOKEN NANOSECONDS PID" to HISTORY, then "alive …" every few milliseconds, and so does a
// descendant in a session of its own that ignores SIGTERM. After MILLISECONDS it ends the descendant and writes "exit
// …". If it entered before the moment that STAY begins with, it stays until the second one there: so a fault meets a
// command that would live on. A stubborn one ignores SIGTERM too.
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

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kBetweenSigns = 4;  // milliseconds

int history = -1;
int stay = -1;
const char* run = "";
const char* token = "";

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * kMillisecond + time.tv_nsec;
}

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

int64_t stay_until(int64_t entered) {
  char text[64] = "";
  int64_t from = 0;
  int64_t until = 0;
  if (pread(stay, text, sizeof text - 1, 0) <= 0) return 0;
  if (sscanf(text, "%" SCNd64 " %" SCNd64, &from, &until) != 2) return 0;
  return entered < from ? until : 0;
}

// Lives until it is told to end: the end of its parent alone does not count.
[[noreturn]] void be_descendant(int orders) {
  setsid();
  if (fork() != 0) _exit(0);
  signal(SIGTERM, SIG_IGN);
  pollfd order{orders, POLLIN, 0};
  char byte = 0;
  for (;;) {
    sign("alive");
    poll(&order, 1, kBetweenSigns);
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
  if (argc > 5) signal(SIGTERM, SIG_IGN);
  const int64_t entered = sign("enter");
  const int64_t until = entered + atoll(argv[4]) * kMillisecond;

  int orders[2];
  int end[2];  // its writing end is the descendant's alone
  if (pipe(orders) != 0 || pipe(end) != 0) return 98;
  if (fork() == 0) {
    close(orders[1]);
    be_descendant(orders[0]);
  }
  close(end[1]);
  wait(nullptr);
  while (now() < until || now() < stay_until(entered)) {
    sign("alive");
    poll(nullptr, 0, kBetweenSigns);
  }
  char byte = 0;
  if (write(orders[1], &byte, 1) != 1) return 98;
  static_cast<void>(read(end[0], &byte, 1));
  sign("exit");
  return 0;
}
