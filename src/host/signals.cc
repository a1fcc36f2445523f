// SPDX-License-Identifier: Apache-2.0
#include "host/signals.h"

#include "host/system_error.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace zklock::host {

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

bool reached_group(const signalfd_siginfo& info) {
  if (info.ssi_code == SI_USER) return info.ssi_pid == static_cast<uint32_t>(getpid());
  // A terminal that goes away tells the session's leader alone, which zklock is under ssh -t or xterm -e.
  const bool leader_alone = info.ssi_signo == SIGHUP && getsid(0) == getpid();
  return info.ssi_code == SI_KERNEL && !leader_alone;
}

}  // namespace

Signals::Signals() {
  sigemptyset(&taken_);
  block({SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU});
  sigprocmask(SIG_BLOCK, nullptr, &before_job_control_);
}

Signals::~Signals() {
  sigprocmask(SIG_SETMASK, &before_job_control_, nullptr);
}

void Signals::take_job_control() {
  block({SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH});
}

void Signals::block(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    // A blocked signal is queued even if it is ignored, so an ignored one must stay open.
    if (!is_ignored(signal)) sigaddset(&taken_, signal);
  }
  sigprocmask(SIG_BLOCK, &taken_, nullptr);
  const int fd = signalfd(fd_.get(), &taken_, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) throw system_error("cannot receive signals");
  if (!fd_) fd_ = Fd(fd);
}

std::optional<Arrival> Signals::take() {
  if (arrived_.empty()) return std::nullopt;
  const Arrival oldest = arrived_.front();
  arrived_.pop_front();
  return oldest;
}

void Signals::arm(PollSet& set) {
  set.watch(fd_.get(), POLLIN);
}

void Signals::record(const PollSet& set) {
  if (!set.seen(fd_.get())) return;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == sizeof info) {
    arrived_.push_back({static_cast<int>(info.ssi_signo), reached_group(info)});
  }
}

void EndOnSignal::decide() {
  if (ended_) return;
  while (const auto arrival = signals_.take()) {
    const int signal = arrival->signal;
    if (!(ended_by_ == EndedBy::people ? is_ending(signal) : ends_by_default(signal))) continue;
    ended_ = true;
    throw Failure::by_signal(signal);
  }
}

void EndOnSecondSignal::decide() {
  while (const auto arrival = signals_.take()) {
    if (!ends_by_default(arrival->signal)) continue;
    if (signal_ != 0) throw Failure::by_signal(arrival->signal);
    signal_ = arrival->signal;
  }
}

void continue_group() {
  ::kill(0, SIGCONT);
}

void die_of(int signal) {
  prctl(PR_SET_DUMPABLE, 0);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  // Only reached for a signal whose default action is not to end the process.
  _exit(128 + signal);
}

bool ends_by_default(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGURG:
    case SIGWINCH:
      return false;
  }
  return true;
}

bool is_ending(int signal) {
  switch (signal) {
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
    case SIGPIPE:
      return true;
  }
  return false;
}

}  // namespace zklock::host
