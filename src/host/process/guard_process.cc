// SPDX-License-Identifier: Apache-2.0
// The guard: a small process between zklock and its command. The command is the guard's child, and the guard is a
// subreaper, so it knows the command's whole tree. It carries out zklock's orders, reports how the command ends, and
// kills the tree at once if zklock dies while the command runs. A guard for several commands, one after the other, also
// kills what earlier ones left behind when it has to kill. All that runs in the guard begins in be_guard() below.
#include "base/contains.h"
#include "base/time.h"
#include "host/process/channel.h"
#include "host/process/control_group.h"
#include "host/process/mark.h"
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

constexpr Duration kBetweenKills = 20ms;  // between rounds of killing, unless SIGCHLD comes sooner
constexpr Duration kStubbornAfter = 1s;   // after killing for so long, a process that still lives is named
constexpr Duration kDying = 50ms;         // before the first search through all of /proc for what is left
constexpr int kLooks = 20;                // times as long as a search took, before the next one

enum class Duty {
  attend,  // waits for orders; the command may run or not
  finish,  // the tree has got TERM and may end by itself until term_until_
  kill,    // rounds of SIGKILL until no child is left
};

// Closes the descriptors that an exec would close, except `kept`.
void close_private_but(std::initializer_list<int> kept) {
  for (const std::string& name : names_in_proc("self/fd").value_or(std::vector<std::string>())) {
    const int fd = std::atoi(name.c_str());
    const bool is_kept = fd <= STDERR_FILENO || fd == proc_folder() || contains(kept, fd);
    const int flags = is_kept ? -1 : fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(fd);
  }
}

class GuardProcess {
 public:
  explicit GuardProcess(GuardSetup setup) : setup_(std::move(setup)), page_(setup_.page) {}

  [[noreturn]] void live() {
    keep_spare();
    // zklock connects meanwhile, so the command need not wait for the group.
    make_group();
    for (;;) {
      wait();
      read_orders();
      reap();
      carry_on();
    }
  }

 private:
  // A guard for several commands keeps all of the caller's descriptors, maybe as many as there can be. Reading /proc
  // needs room.
  void keep_spare() {
    if (setup_.service == Service::once) return;
    for (Fd& spare : spare_) {
      if (!spare) spare = Fd(fcntl(setup_.channel.get(), F_DUPFD_CLOEXEC, 0));
    }
  }

  // zklock knows of the group before it exists, and removes it if we are killed.
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
    // A closed channel would wake us again and again.
    const int channel = zklock_lives_ ? setup_.channel.get() : -1;
    pollfd fds[] = {{channel, POLLIN, 0}, {setup_.child_signal.get(), POLLIN, 0}, {setup_.timer.fd(), POLLIN, 0}};
    ::poll(fds, 3, -1);
  }

  // Returns the moment at which all that the lock is held for must be dead; kNever: there is no such moment. It may
  // move on while we sleep: we wake up at the old one and find the new one.
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

  // zklock's end of the channel is closed. Either zklock let the command's leftovers go on purpose, or it is dead.
  void zklock_is_gone() {
    zklock_lives_ = false;
    if (!holds_lock() && duty_ == Duty::attend) leave();
    start_killing();
  }

  // Returns whether something runs that the lock is held for.
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

  // Returns whether nothing of the command runs yet, or any more. Then the duty is `attend`, because every other duty
  // ends with what runs.
  bool nothing_runs() const { return page_.phase == CommandPhase::idle || page_.phase == CommandPhase::gone; }

  // A second call never gives more time.
  void finish(Duration grace) {
    if (nothing_runs()) return set_phase(CommandPhase::gone);
    if (duty_ == Duty::kill) return;
    term_until_ = std::min(term_until_, deadline_in(grace));
    duty_ = Duty::finish;
    spare_ = {};
    signal_descendants({SIGTERM, SIGCONT});  // a stopped process would not see the TERM
  }

  // A command in a process group of its own gets the signal as from a terminal: the whole group gets it.
  void forward(int signal) {
    // The command is our child and not reaped yet, so the pid is still its own.
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
    // The marks are made before the command starts, so that the outer zklock waits for us even if our zklock is killed
    // now. If our zklock is dead already, its own mark may be gone.
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
    // A reader of a pipe that the command was given must not wait for the guard to end too.
    if (setup_.service == Service::again) return;
    group_.close_for_spawning();
    std::vector<int> kept{setup_.channel.get(), setup_.child_signal.get(), setup_.timer.fd(), group_.kill_fd(),
                          proc_folder()};
    for (const Fd& mark : marks_) kept.push_back(mark.get());
    close_all_but(kept);
  }

  // Returns false, with errno set, if a mark cannot be made. An outer zklock would not see then that we use its lock.
  bool mark_outer_locks(const std::vector<int64_t>& tokens) {
    for (const int64_t token : tokens) {
      marks_.push_back(mark_nested(token));
      if (!marks_.back()) return false;
    }
    return true;
  }

  // Moves the guard to a session of its own once the command is in zklock's group. An orphaned group, as under cron,
  // has no tie to its session, and the guard must not become one. The command's end would break that tie. If a process
  // of the group were stopped then, the kernel would send SIGHUP to all of the group, the caller's script among them. A
  // guard in another session is no tie, but only from this one could it put the command into the group. Fails if the
  // guard leads a process group of its own.
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

  // Reports `gone` at once if nothing was left behind. After `ended` alone, zklock would search all of /proc for
  // leftovers.
  void reap() {
    drain(setup_.child_signal);
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
    forget_reaped();
    if (command_ != 0) ::kill(command_, SIGKILL);  // our child and not reaped, so known even if /proc hides it
    // Some processes may be outside of the control group: those that moved to another one, or all if there is none.
    if (kill_children({}, [this](pid_t pid, int wait_status) { note_child(pid, wait_status); })) kill_below();
    reap();
    if (duty_ != Duty::kill) return;
    if (BootClock::now() < stubborn_from_) return;
    // A child is named even by a /proc that hides the processes of other users (hidepid).
    const auto left = own_children();
    const pid_t child = left && !left->empty() ? left->front() : 0;
    const pid_t stubborn = refused_.empty() ? child : refused_.front();
    if (page_.stubborn.exchange(stubborn) != stubborn) notify();
  }

  // While the kernel reaps, only this shows whether the pid is still the command's.
  void forget_reaped() {
    siginfo_t info{};
    const bool is_ours =
        command_ == 0 || waitid(P_PID, static_cast<id_t>(command_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (!is_ours && errno == ECHILD) note_child(command_, SIGKILL);
  }

  // Kills descendants whose parents still live. They are rare, because each becomes our child when its parent dies.
  // Searching for them takes long, and dying processes need processor time. A dozen guards that lose their locks with
  // the same server could leave them none, because guards have priority. So there is a pause after each search.
  void kill_below() {
    const Deadline begun = BootClock::now();
    if (begun < next_look_) return;
    refused_ = signal_descendants({SIGKILL});
    next_look_ = BootClock::now() + kLooks * (BootClock::now() - begun);
  }

  // It does not matter any more how the command ends, so the kernel may reap it.
  void start_killing() {
    duty_ = Duty::kill;
    spare_ = {};
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
  std::array<Fd, 2> spare_;  // room for a pidfd and a file of /proc
  std::vector<Fd> marks_;    // for outer locks, open until the guard ends
  ControlGroup group_;
  pid_t command_ = 0;
  Duty duty_ = Duty::attend;
  Deadline term_until_ = kNever;
  Deadline stubborn_from_ = kNever;
  Deadline next_look_ = kNever;
  std::vector<pid_t> refused_;  // another user's processes that the last search found
  bool zklock_lives_ = true;
};

}  // namespace

void be_guard(GuardSetup setup) noexcept {
  // This also closes the channels of other guards, which must see zklock's end when it dies.
  close_private_but({setup.channel.get(), setup.child_signal.get(), setup.timer.fd()});
  // The guard gets a process group of its own, so that stopping or killing the whole job does not stop it. If the
  // command's group is orphaned, the guard stays in it until the command runs, see GuardProcess::leave_session.
  if (setup.service == Service::again || !is_in_orphaned_group(setup.zklock)) setpgid(0, 0);
  shield_from_signals();
  become_subreaper();
  be_prompt();
  GuardProcess(std::move(setup)).live();
}

}  // namespace zklock::host
