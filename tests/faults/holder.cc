// SPDX-License-Identifier: Apache-2.0
// The contenders of the fault suite run this under the lock:
//
//   faults_holder HISTORY STAY RUN MILLISECONDS [LOCK…] [stubborn|forking|failing] [-- COMMAND…]
//
// It takes the kernel's lock for each LOCK (kernel_lock.h), which all its descendants inherit. It appends "enter RUN
// TOKEN NANOSECONDS PID" to HISTORY, or "overlap …" if another process has one of them; then "alive …" every few
// milliseconds. So does a descendant in a session of its own that ignores SIGTERM. After MILLISECONDS, or when
// COMMAND has ended, it ends the descendant and writes "exit …", or "fail …" if it is `failing`. STAY and HISTORY.stay
// each have two moments. If it entered before the first one, it stays until the second: so a fault meets a command that
// would live on. A stubborn one ignores SIGTERM too. The descendant of a forking one is another process every
// millisecond, each in a session of its own, for ten seconds at most.
#include "kernel_lock.h"
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
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using faults::kBetweenSigns;
using faults::kMillisecond;
using faults::lock_in_kernel;
using faults::now;
using faults::stay_until;

constexpr int64_t kLongestChain = 10'000 * kMillisecond;

int history = -1;
int stays[2] = {-1, -1};
const char* run = "";
std::string token;

struct Manner {
  bool stubborn = false;
  bool forking = false;
  bool failing = false;
  char** command = nullptr;
};

// Writes each line in one call, so that lines never mix. Reads the clock before.
int64_t sign(const char* what) {
  char line[256];
  const int64_t time = now();
  const int length = snprintf(line, sizeof line, "%s %s %s %" PRId64 " %d\n", what, run, token.c_str(), time, getpid());
  if (write(history, line, static_cast<size_t>(length)) != length) {
    perror("faults_holder: cannot write the history");
    _exit(99);
  }
  return time;
}

// Continues in a child: the caller ends once it has a successor.
void hand_on() {
  if (fork() > 0) _exit(0);
  setsid();
}

// Lives until it is told to end: its parent's end alone does not count.
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

// The tokens of several locks are one word.
void read_token() {
  const char* const given = getenv("ZKLOCK_TOKEN");
  if (!given) _exit(98);
  token = given;
  for (char& one : token) {
    if (one == '\n') one = ',';
  }
}

Manner read_manner(char** words) {
  Manner manner;
  for (; *words; ++words) {
    const std::string word = *words;
    manner.stubborn |= word == "stubborn";
    manner.forking |= word == "forking";
    manner.failing |= word == "failing";
    if (word != "--") continue;
    manner.command = words + 1;
    break;
  }
  return manner;
}

bool lock_all(const char* prefix, char** words) {
  bool good = true;
  for (; *words && strcmp(*words, "--") != 0; ++words) {
    if (strchr(*words, ':') && !lock_in_kernel(prefix, *words)) good = false;
  }
  return good;
}

// Returns the process of the command, or 0.
pid_t start(char** command) {
  if (!command) return 0;
  const pid_t child = fork();
  if (child != 0) return child;
  signal(SIGTERM, SIG_DFL);
  execv(command[0], command);
  _exit(97);
}

bool stays_on(int64_t entered) {
  return now() < stay_until(stays[0], entered) || now() < stay_until(stays[1], entered);
}

// Returns the status of the command.
int live(const Manner& manner, int64_t entered, int64_t until) {
  const pid_t command = start(manner.command);
  int status = 0;
  while (command != 0 ? waitpid(command, &status, WNOHANG) == 0 : now() < until || stays_on(entered)) {
    sign("alive");
    poll(nullptr, 0, kBetweenSigns);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 98;
  history = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  stays[0] = open(argv[2], O_RDONLY | O_CLOEXEC);
  stays[1] = open((std::string(argv[1]) + ".stay").c_str(), O_RDONLY | O_CLOEXEC);
  run = argv[3];
  read_token();
  const Manner manner = read_manner(argv + 5);
  if (manner.stubborn) signal(SIGTERM, SIG_IGN);
  const int64_t entered = sign(lock_all(argv[1], argv + 5) ? "enter" : "overlap");
  const int64_t until = entered + atoll(argv[4]) * kMillisecond;

  int orders[2];
  int end[2];  // only the descendant has its writing end
  if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(end, O_CLOEXEC) != 0) return 98;
  if (fork() == 0) {
    close(orders[1]);
    be_descendant(orders[0], manner.forking);
  }
  close(end[1]);
  wait(nullptr);
  const int status = live(manner, entered, until);
  char byte = 0;
  if (write(orders[1], &byte, 1) != 1) return 98;
  static_cast<void>(read(end[0], &byte, 1));
  sign(manner.failing ? "fail" : "exit");
  return manner.failing ? 1 : status;
}
