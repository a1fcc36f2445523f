// SPDX-License-Identifier: Apache-2.0
#include "host/process/survivor.h"

#include "base/time.h"
#include "host/fd.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestDying = 5s;  // from when a process closes its descriptors to its end
constexpr Duration kOftenEnough = 1h;   // between checks that no signal calls for

// Returns true once `parent` is dead, false at `until`. The kernel signals the death after it has closed what the
// parent had open.
bool await_end_of(pid_t parent, Deadline until) {
  sigset_t all;
  sigfillset(&all);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  while (getppid() == parent) {
    const Duration left = std::min(left_until(until), kOftenEnough);
    if (left == Duration::zero()) return false;
    const timespec time{left / 1s, left % 1s / 1ns};
    sigtimedwait(&all, nullptr, &time);
  }
  return true;
}

}  // namespace

Survivor::Survivor(const std::function<void()>& at_end) {
  const pid_t zklock = getpid();
  pid_ = fork();
  if (pid_ < 0) throw system_error("cannot start the process that outlives zklock");
  if (pid_ != 0) return;
  setpgid(0, 0);  // killing the whole job must not kill this process
  shield_from_signals();
  end_after(zklock, false, at_end);
}

Survivor::~Survivor() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void shield_from_signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, kGuardName);
}

// A reader of what zklock wrote must not wait for the caller's end too. /dev/null takes the numbers of the standard
// streams, so that nothing else becomes one.
void end_after(pid_t parent, bool dying, const std::function<void()>& at_end) {
  close_all_but({});
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) static_cast<void>(open("/dev/null", O_RDWR));
  if (at_end && await_end_of(parent, dying ? deadline_in(kLongestDying) : kNever)) at_end();
  _exit(0);
}

}  // namespace zklock::host
