// SPDX-License-Identifier: Apache-2.0
#include "host/signals.h"

#include "base/contains.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace zklock::host {

namespace {

// The signals whose action zklock changes for itself, and whether it ignores them then.
constexpr std::pair<int, bool> kDispositions[] = {{SIGCHLD, false}, {SIGPIPE, true}, {SIGXFSZ, true}};

sighandler_t handler(bool ignored) {
  return ignored ? SIG_IGN : SIG_DFL;
}

bool is_ignored(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

bool reached_group(const signalfd_siginfo& info) {
  if (info.ssi_code == SI_USER) return info.ssi_pid == static_cast<uint32_t>(getpid());
  // If a terminal goes away, only the session's leader gets SIGHUP. zklock is the leader under ssh -t or xterm -e.
  const bool leader_alone = info.ssi_signo == SIGHUP && getsid(0) == getpid();
  return info.ssi_code == SI_KERNEL && !leader_alone;
}

}  // namespace

Inherited Inherited::take_over() {
  Inherited found;
  for (int fd = 0; fd < 3; ++fd) {
    found.closed[fd] = fcntl(fd, F_GETFD) < 0;
    // Each descriptor gets the lowest free number, which is its own. They are opened the wrong way round, so that
    // reading from standard input and writing to the others fails, as with a closed descriptor.
    const int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (found.closed[fd] && open("/dev/null", way) != fd) std::abort();
  }
  sigprocmask(SIG_SETMASK, nullptr, &found.mask);
  sigemptyset(&found.ignored);
  for (const auto& [signal, ours] : kDispositions) {
    if (::signal(signal, handler(ours)) == SIG_IGN) sigaddset(&found.ignored, signal);
  }
  return found;
}

void Inherited::restore() const {
  for (const auto& [signal, ours] : kDispositions) ::signal(signal, handler(sigismember(&ignored, signal) == 1));
  for (int fd = 0; fd < 3; ++fd) {
    if (closed[fd]) ::close(fd);
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

Signals::Signals() {
  sigemptyset(&taken_);
  block({SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU});
  sigprocmask(SIG_BLOCK, nullptr, &before_job_control_);
}

void Signals::block(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    // A blocked signal is queued even if it is ignored, so an ignored one must not be blocked.
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

void Signals::record(const PollSet& set) {
  if (!set.seen(fd_.get())) return;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == sizeof info) {
    arrived_.push_back({static_cast<int>(info.ssi_signo), reached_group(info), info.ssi_code == SI_KERNEL});
  }
}

bool ends_by_default(int signal) {
  constexpr int kOthers[] = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
  return !contains(kOthers, signal);
}

void EndOnSignal::decide() {
  if (ended_) return;
  while (const auto arrival = signals_.take()) {
    if (!ends_(arrival->signal)) continue;
    ended_ = true;
    throw Failure::by_signal(arrival->signal);
  }
}

void EndOnSecondSignal::decide() {
  while (const auto arrival = signals_.take()) {
    if (!ends_by_default(arrival->signal)) continue;
    if (signal_ != 0 || at_once_) throw Failure::by_signal(arrival->signal);
    signal_ = arrival->signal;
  }
}

Fd open_child_signal() {
  const sigset_t child = only(SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  Fd opened(signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!opened) throw system_error("cannot learn of children");
  return opened;
}

void drain(const Fd& child_signal) {
  signalfd_siginfo info{};
  while (read(child_signal.get(), &info, sizeof info) > 0) {
  }
}

void die_of(int signal) {
  prctl(PR_SET_DUMPABLE, 0);
  ::signal(signal, SIG_DFL);
  raise(signal);
  const sigset_t open = only(signal);
  sigprocmask(SIG_UNBLOCK, &open, nullptr);
  // Only reached for a signal whose default action is not to end the process.
  _exit(128 + signal);
}

}  // namespace zklock::host
