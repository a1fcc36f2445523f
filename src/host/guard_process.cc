// SPDX-License-Identifier: Apache-2.0
#include "host/guard_process.h"

#include "base/time.h"
#include "host/child_signal.h"
#include "host/timer.h"
#include "host/tree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenRounds = 20ms;  // of killing, where SIGCHLD does not come sooner
constexpr Duration kStubbornAfter = 1s;    // of killing in vain, a survivor is named

enum class Duty {
  attend,  // to orders; the command may run or not
  finish,  // the tree has got TERM and may end by itself until term_until_
  kill,    // rounds of SIGKILL until no child is left
};

class GuardProcess {
 public:
  GuardProcess(Fd channel, GuardPage& page, const Program& program, const Inherited& inherited)
      : channel_(std::move(channel)), page_(page), program_(program), inherited_(inherited) {}

  [[noreturn]] void live() {
    for (;;) {
      wait();
      read_orders();
      reap();
      carry_on();
    }
  }

 private:
  void wait() {
    Deadline until = fence();
    if (duty_ == Duty::finish) until = std::min(until, term_until_);
    if (duty_ == Duty::kill) until = deadline_in(BootClock::now() < stubborn_from_ ? kBetweenRounds : kStubbornAfter);
    timer_.set(until);
    pollfd fds[] = {{channel_.get(), POLLIN, 0}, {child_signal_.fd(), POLLIN, 0}, {timer_.fd(), POLLIN, 0}};
    ::poll(fds, 3, -1);
  }

  // Nothing that the lock is held for may live any longer than that. It moves on while we sleep; we wake up at the
  // old one and find the new one.
  Deadline fence() const {
    const bool starting = page_.phase == CommandPhase::idle;
    const bool bound = starting || holds_lock() || (duty_ != Duty::attend && page_.phase != CommandPhase::gone);
    return bound ? Deadline(Duration(page_.fence)) : kNever;
  }

  void read_orders() {
    char message[kLongestOrder];
    ssize_t length = 0;
    while (zklock_lives_ && (length = recv(channel_.get(), message, sizeof message, MSG_DONTWAIT)) >= 0) {
      if (length == 0) zklock_is_gone();
      if (length >= static_cast<ssize_t>(sizeof(Order))) obey(message, static_cast<size_t>(length));
    }
  }

  // Its end of the channel is closed: it has let the command's leftovers go on purpose, or it is dead.
  void zklock_is_gone() {
    zklock_lives_ = false;
    if (!holds_lock() && duty_ == Duty::attend) _exit(0);
    start_killing();
  }

  // Something runs that the lock is held for.
  bool holds_lock() const {
    switch (page_.phase.load()) {
      case CommandPhase::running:
      case CommandPhase::stopped:
        return true;
      case CommandPhase::ended:
        return !page_.let_go;
      case CommandPhase::idle:
      case CommandPhase::gone:
        break;
    }
    return false;
  }

  void obey(const char* message, size_t length) {
    Order order{};
    std::memcpy(&order, message, sizeof order);
    switch (order.kind) {
      case OrderKind::start:
        start({message + sizeof order, length - sizeof order});
        break;
      case OrderKind::forward:
        forward(order.number);
        break;
      case OrderKind::finish:
        finish(std::chrono::milliseconds(order.number));
        break;
    }
  }

  // Asked again, it never gives more time.
  void finish(Duration grace) {
    if (page_.phase == CommandPhase::idle) return set_phase(CommandPhase::gone);
    if (duty_ == Duty::kill) return;
    term_until_ = std::min(term_until_, deadline_in(grace));
    duty_ = Duty::finish;
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);  // a stopped process would not see the TERM
  }

  void forward(int signal) {
    // Our child and not reaped yet, so the pid is still its own.
    if (command_ == 0 || ::kill(command_, signal) == 0) return;
    page_.refused = signal;
    notify();
  }

  void start(std::string_view variables) {
    if (BootClock::now() >= fence()) {  // zklock was frozen on the way to us
      page_.fenced = true;
      return set_phase(CommandPhase::gone);
    }
    std::vector<std::string> environment;
    while (!variables.empty()) {
      environment.emplace_back(variables.substr(0, variables.find('\0')));
      variables.remove_prefix(environment.back().size() + 1);
    }
    const pid_t group = getpgid(getppid());
    command_ = fork();
    if (command_ == 0) become_command(group, environment);
    if (command_ < 0) {
      page_.exec_error = errno;
      set_phase(CommandPhase::ended);
      return;
    }
    set_phase(CommandPhase::running);
    let_go_of_descriptors();
  }

  [[noreturn]] void become_command(pid_t group, const std::vector<std::string>& environment) noexcept {
    // Should the guard be killed, its command dies with it, before zklock has even noticed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, group);
    inherited_.restore();
    page_.exec_error = program_.execute(environment);
    _exit(127);
  }

  // Who reads the other end of a pipe that the command was given must not wait for the guard to end too.
  void let_go_of_descriptors() {
    int kept[] = {channel_.get(), child_signal_.fd(), timer_.fd()};
    std::sort(std::begin(kept), std::end(kept));
    unsigned first = 0;
    for (const int fd : kept) {
      if (static_cast<unsigned>(fd) > first) syscall(SYS_close_range, first, fd - 1, 0);
      first = static_cast<unsigned>(fd) + 1;
    }
    syscall(SYS_close_range, first, ~0U, 0);
  }

  void reap() {
    child_signal_.drain();
    const bool children = reap_children([this](pid_t pid, int wait_status) { note_child(pid, wait_status); });
    if (children || page_.phase != CommandPhase::ended) return;
    set_phase(CommandPhase::gone);
    if (!zklock_lives_) _exit(0);
    duty_ = Duty::attend;
  }

  void note_child(pid_t pid, int wait_status) {
    if (pid != command_) return;
    if (WIFSTOPPED(wait_status)) {
      page_.stop_signal = WSTOPSIG(wait_status);
      set_phase(CommandPhase::stopped);
    } else if (WIFCONTINUED(wait_status)) {
      set_phase(CommandPhase::running);
    } else {
      command_ = 0;
      page_.wait_status = wait_status;
      set_phase(CommandPhase::ended);
    }
  }

  void carry_on() {
    if (BootClock::now() >= fence() && !page_.fenced.exchange(true) && duty_ != Duty::kill) start_killing();
    if (duty_ == Duty::finish && left_until(term_until_) == Duration::zero()) start_killing();
    if (duty_ != Duty::kill) return;
    if (command_ > 0) ::kill(command_, SIGKILL);  // at once, whatever a scan takes
    const std::vector<pid_t> refused = kill_descendants();
    if (BootClock::now() < stubborn_from_) return;
    const std::vector<Process> left = descendants_of(getpid());
    const pid_t stubborn = !refused.empty() ? refused.front() : left.empty() ? 0 : left.front().pid;
    if (page_.stubborn.exchange(stubborn) != stubborn) notify();
  }

  void start_killing() {
    duty_ = Duty::kill;
    stubborn_from_ = deadline_in(kStubbornAfter);
  }

  void set_phase(CommandPhase phase) {
    page_.phase = phase;
    notify();
  }

  void notify() {
    const char look = 0;
    // A full channel means that zklock has a byte to wake up for already.
    static_cast<void>(send(channel_.get(), &look, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  Fd channel_;
  GuardPage& page_;
  const Program& program_;
  const Inherited& inherited_;
  ChildSignal child_signal_;
  Timer timer_;
  pid_t command_ = 0;
  Duty duty_ = Duty::attend;
  Deadline term_until_ = kNever;
  Deadline stubborn_from_ = kNever;
  bool zklock_lives_ = true;
};

}  // namespace

void be_guard(Fd channel, GuardPage& page, const Program& program, const Inherited& inherited) noexcept {
  // A group of its own, so that who stops or kills the whole job does not stop the guard. Not where zklock's group is
  // orphaned: the guard would be its only tie to the session, and when the command's end breaks that while somebody in
  // the group is stopped, the kernel sends SIGHUP to all of them, the caller's script among them.
  if (!is_in_orphaned_group(getppid())) setpgid(0, 0);
  // Nothing but SIGKILL and SIGSTOP reaches it.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  become_subreaper();
  GuardProcess(std::move(channel), page, program, inherited).live();
}

}  // namespace zklock::host
