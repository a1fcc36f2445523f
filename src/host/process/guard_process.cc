// SPDX-License-Identifier: Apache-2.0
// The guard's own life: a small process between zklock and its command. The command is the guard's child, and the
// guard is a subreaper, so the command's whole tree is known to it. It attends to zklock's orders, reports how the
// command ends, and kills the tree at once if zklock dies while the command runs. One that serves several commands, one
// after the other, takes what an earlier one left behind for part of the tree when it has to kill. All that runs in
// the guard begins here, with be_guard() below.
#include "base/time.h"
#include "host/process/channel.h"
#include "host/process/control_group.h"
#include "host/process/mark.h"
#include "host/process/proc.h"
#include "host/process/spawn.h"
#include "host/process/survivor.h"
#include "host/process/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace zklock::host {

namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenKills = 20ms;  // of killing, where SIGCHLD does not come sooner
constexpr Duration kStubbornAfter = 1s;   // of killing in vain, a survivor is named
constexpr Duration kDying = 50ms;         // before the first look through all of /proc for what is left
constexpr int kLooks = 20;                // times as long as a look has taken, before the next

enum class Duty {
  attend,  // to orders; the command may run or not
  finish,  // the tree has got TERM and may end by itself until term_until_
  kill,    // rounds of SIGKILL until no child is left
};

// Closes what an exec would close, but `kept`.
void close_private_but(std::initializer_list<int> kept) {
  for (const std::string& name : names_in_proc("self/fd").value_or(std::vector<std::string>())) {
    const int fd = std::atoi(name.c_str());
    const bool is_kept =
        fd <= STDERR_FILENO || fd == proc_folder() || std::find(kept.begin(), kept.end(), fd) != kept.end();
    const int flags = is_kept ? -1 : fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(fd);
  }
}

class GuardProcess {
 public:
  explicit GuardProcess(GuardSetup setup) : setup_(std::move(setup)), page_(setup_.page) {}

  [[noreturn]] void live() {
    keep_spare();
    // While zklock connects, so that the command need not wait for it.
    make_group();
    for (;;) {
      wait();
      read_orders();
      reap();
      carry_on();
    }
  }

 private:
  // A command that stays open for others has all of the caller's descriptors, maybe as many as there can be.
  void keep_spare() {
    if (setup_.service == Service::once) return;
    for (Fd& spare : spare_) {
      if (!spare) spare = Fd(fcntl(setup_.channel.get(), F_DUPFD_CLOEXEC, 0));
    }
  }

  // For looks into /proc.
  void use_spare() {
    for (Fd& spare : spare_) spare.reset();
  }

  // zklock knows of it before it is there, and removes it should we be killed.
  void make_group() {
    const std::string folder = ControlGroup::new_folder();
    if (folder.empty() || folder.size() >= sizeof page_.group) return;
    std::memcpy(page_.group, folder.c_str(), folder.size() + 1);
    page_.has_group = true;
    group_ = ControlGroup(folder);
    page_.has_group = group_.make();
  }

  [[noreturn]] void leave() {
    group_.remove();
    end_after(setup_.zklock, true, setup_.at_end);
  }

  void wait() {
    Deadline until = fence();
    if (duty_ == Duty::finish) until = std::min(until, term_until_);
    if (duty_ == Duty::kill) until = deadline_in(BootClock::now() < stubborn_from_ ? kBetweenKills : kStubbornAfter);
    setup_.timer.set(until);
    // At its end a channel would wake us for ever.
    const int channel = zklock_lives_ ? setup_.channel.get() : -1;
    pollfd fds[] = {{channel, POLLIN, 0}, {setup_.child_signal.fd(), POLLIN, 0}, {setup_.timer.fd(), POLLIN, 0}};
    ::poll(fds, 3, -1);
  }

  // Nothing that the lock is held for may live any longer than that. It moves on while we sleep; we wake up at the
  // old one and find the new one.
  Deadline fence() const {
    const bool starting = page_.phase == CommandPhase::idle;
    const bool bound = starting || holds_lock() || (duty_ != Duty::attend && page_.phase != CommandPhase::gone);
    return bound ? page_.fence_moment() : kNever;
  }

  void read_orders() {
    bool closed = false;
    while (zklock_lives_) {
      const auto order = receive(setup_.channel, closed);
      if (closed) zklock_is_gone();
      if (!order) return;
      obey(*order);
    }
  }

  // Its end of the channel is closed: it has let the command's leftovers go on purpose, or it is dead.
  void zklock_is_gone() {
    zklock_lives_ = false;
    if (!holds_lock() && duty_ == Duty::attend) leave();
    start_killing();
  }

  // Something runs that the lock is held for.
  bool holds_lock() const {
    const CommandPhase phase = page_.phase;
    if (phase == CommandPhase::ended) return !page_.let_go;
    return phase == CommandPhase::running || phase == CommandPhase::stopped;
  }

  void obey(const Order& order) {
    switch (order.kind) {
      case OrderKind::start: return start(order);
      case OrderKind::forward: return forward(order.number);
      case OrderKind::finish: return finish(std::chrono::milliseconds(order.number));
    }
  }

  // Not yet, or no more. Then the duty is to attend: only the end of what runs ends another.
  bool nothing_runs() const { return page_.phase == CommandPhase::idle || page_.phase == CommandPhase::gone; }

  // Asked again, it never gives more time.
  void finish(Duration grace) {
    if (nothing_runs()) return set_phase(CommandPhase::gone);
    if (duty_ == Duty::kill) return;
    term_until_ = std::min(term_until_, deadline_in(grace));
    duty_ = Duty::finish;
    use_spare();
    signal_descendants({SIGTERM, SIGCONT});  // a stopped process would not see the TERM
  }

  // To a command in a group of its own as a terminal would do it: to all of the group.
  void forward(int signal) {
    // Our child and not reaped yet, so the pid is still its own.
    if (command_ == 0 || ::kill(setup_.service == Service::again ? -command_ : command_, signal) == 0) return;
    page_.refused = signal;
    notify();
  }

  void start(const Order& order) {
    page_.phase = CommandPhase::idle;
    page_.exec_error = 0;
    page_.overrun = 0;
    page_.command = order.number;
    term_until_ = kNever;
    if (BootClock::now() >= fence()) {  // zklock was frozen on the way to us
      page_.fenced = true;
      return set_phase(CommandPhase::gone);
    }
    // Before it, for the outer zklock would not wait for us if ours were killed now. If ours is dead its own mark may
    // be gone already.
    const bool marked = mark_outer_locks(order.nested);
    if (getppid() != setup_.zklock) return set_phase(CommandPhase::gone);
    if (marked) errno = EMFILE;
    command_ = marked && order.whole ? spawn_command(order) : -1;
    page_.pid = std::max(command_, 0);
    if (command_ < 0) {
      command_ = 0;
      page_.exec_error = errno;
      return set_phase(CommandPhase::ended);
    }
    page_.phase = CommandPhase::running;  // not worth waking zklock
    leave_session();
    // Who reads the other end of a pipe that the command was given must not wait for the guard to end too.
    if (setup_.service == Service::again) return;
    group_.close_for_spawning();
    std::vector<int> kept{setup_.channel.get(), setup_.child_signal.fd(), setup_.timer.fd(), group_.kill_fd(),
                          proc_folder()};
    for (const Fd& mark : marks_) kept.push_back(mark.get());
    close_all_but(kept);
  }

  // False, with errno, where that is not possible: an outer zklock would not see that we use its lock.
  bool mark_outer_locks(const std::vector<int64_t>& tokens) {
    for (const int64_t token : tokens) {
      marks_.push_back(mark_nested(token));
      if (!marks_.back()) return false;
    }
    return true;
  }

  // An orphaned group, as under cron, has no tie to its session, and the guard must not become one: when the command's
  // end broke that while somebody in the group is stopped, the kernel would send SIGHUP to all of them, the caller's
  // script among them. From another session it is none; but only from this one could the command be put into its group.
  // Fails where we lead a group of our own.
  static void leave_session() { setsid(); }

  pid_t spawn_command(const Order& order) {
    Program program = setup_.program;
    if (order.arguments) program.arguments = strings_of(content_of(order.arguments));
    const Execution execution(program, strings_of(order.variables));
    const bool again = setup_.service == Service::again;
    const pid_t process_group = again ? 0 : getpgid(getppid());
    return spawn(
        {execution, setup_.inherited, process_group, again ? &order.input : nullptr, page_.exec_error, group_.fd()});
  }

  // zklock hears at once that nobody was left behind: else it would look for somebody in all of /proc.
  void reap() {
    setup_.child_signal.drain();
    const CommandPhase before = page_.phase;
    const bool children = reap_children([this](pid_t pid, int wait_status) { note_child(pid, wait_status); });
    if (!children && duty_ == Duty::kill && command_ != 0) note_child(command_, SIGKILL);
    const bool gone = !children && page_.phase == CommandPhase::ended;
    if (gone) {
      if (duty_ == Duty::kill) page_.overrun = std::max(BootClock::now() - fence(), Duration::zero()).count();
      page_.phase = CommandPhase::gone;
    }
    if (page_.phase != before) notify();
    if (!gone) return;
    if (!zklock_lives_) leave();
    duty_ = Duty::attend;
    keep_spare();
    reap_unseen(false);
  }

  void note_child(pid_t pid, int wait_status) {
    if (pid != command_) return;
    if (WIFSTOPPED(wait_status)) {
      page_.stop_signal = WSTOPSIG(wait_status);
      page_.phase = CommandPhase::stopped;
    } else if (WIFCONTINUED(wait_status)) {
      page_.phase = CommandPhase::running;
    } else {
      command_ = 0;
      page_.wait_status = wait_status;
      page_.phase = CommandPhase::ended;
    }
  }

  void carry_on() {
    if (BootClock::now() >= fence() && !page_.fenced.exchange(true) && duty_ != Duty::kill) {
      if (nothing_runs()) return set_phase(CommandPhase::gone);
      start_killing();
    }
    if (duty_ == Duty::finish && left_until(term_until_) == Duration::zero()) start_killing();
    if (duty_ != Duty::kill) return;
    group_.kill();
    if (command_ != 0) ::kill(command_, SIGKILL);  // our child and not reaped; known whatever /proc shows
    // Those that are not in it: all of them where there is none, and what has moved to another.
    if (kill_children({}, [this](pid_t pid, int wait_status) { note_child(pid, wait_status); })) kill_below();
    reap();
    if (duty_ != Duty::kill) return;
    if (BootClock::now() < stubborn_from_) return;
    // A child, whom also a /proc that hides the processes of others (hidepid) names.
    const auto left = own_children();
    const pid_t child = left && !left->empty() ? left->front() : 0;
    const pid_t stubborn = refused_.empty() ? child : refused_.front();
    if (page_.stubborn.exchange(stubborn) != stubborn) notify();
  }

  // Whose parent lives on, which is rare: each is our child when its parent is dead. To look for them takes long, and
  // what is dying needs a moment of the processor for that: guards, with their priority, of which a dozen lose their
  // locks with the same server, would leave it none if they did nothing but look.
  void kill_below() {
    const Deadline begun = BootClock::now();
    if (begun < next_look_) return;
    refused_ = signal_descendants({SIGKILL});
    next_look_ = BootClock::now() + kLooks * (BootClock::now() - begun);
  }

  // How the command ends now is of no interest.
  void start_killing() {
    duty_ = Duty::kill;
    use_spare();
    reap_unseen(true);
    stubborn_from_ = deadline_in(kStubbornAfter);
    next_look_ = deadline_in(kDying);
    refused_.clear();
  }

  void set_phase(CommandPhase phase) {
    page_.phase = phase;
    notify();
  }

  void notify() const {
    const char look = 0;
    // A full channel means that zklock has a byte to wake up for already.
    static_cast<void>(::send(setup_.channel.get(), &look, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  GuardSetup setup_;
  GuardPage& page_;
  std::array<Fd, 2> spare_;  // a process, and a file that tells of it
  std::vector<Fd> marks_;    // in outer locks, until nothing of the command is left
  ControlGroup group_;
  pid_t command_ = 0;
  Duty duty_ = Duty::attend;
  Deadline term_until_ = kNever;
  Deadline stubborn_from_ = kNever;
  Deadline next_look_ = kNever;
  std::vector<pid_t> refused_;  // by the last look; another user's
  bool zklock_lives_ = true;
};

}  // namespace

void be_guard(GuardSetup setup) noexcept {
  // Among it the channels of other guards: they must see zklock's end when it dies.
  close_private_but({setup.channel.get(), setup.child_signal.fd(), setup.timer.fd()});
  // A group of its own, so that who stops or kills the whole job does not stop the guard. Not yet where the command
  // will be in a group that is orphaned, see GuardProcess::leave_session.
  if (setup.service == Service::again || !is_in_orphaned_group(setup.zklock)) setpgid(0, 0);
  block_all_signals();
  outlive_by_name();
  become_subreaper();
  be_prompt();
  GuardProcess(std::move(setup)).live();
}

}  // namespace zklock::host
