// SPDX-License-Identifier: Apache-2.0
// zklock's side of its guard (guard_process.cc): starts a command, passes signals on, and learns how the command ended.
// It must be made before there is a ZooKeeper handle, because a fork must not hold a copy of that. If the guard is
// killed, or is stopped while a command runs, zklock inherits the command's tree and ends it itself.
#pragma once

#include "base/time.h"
#include "host/loop.h"
#include "host/process/channel.h"
#include "host/process/control_group.h"
#include "host/process/spawn.h"
#include "host/signals.h"

#include <functional>
#include <memory>
#include <vector>

namespace zklock::host {

class Guard : public Source {
 public:
  // No `at_end`. This is not a temporary, because GCC 12 believes that its destructor reads uninitialized memory.
  inline static const std::function<void()> kNothing = {};

  // Forks the guard. `program` was found already. If zklock is killed, the guard calls `at_end` once zklock is dead and
  // nothing of the command is left. It has closed all its descriptors by then, and `at_end` must end soon. Throws a
  // Failure (70) if there can be no guard, or if /proc is missing or another PID namespace's.
  Guard(Service service, Program program, const Inherited& inherited, const std::function<void()>& at_end = kNothing);
  Guard(const Guard&) = delete;
  // Ends the guard, and also the command's tree unless that was let go.
  ~Guard();

  // Starts a command. With Service::again, it may be called again when the last command has ended and was let go. From
  // then on, all functions below are about the new command. Throws a Failure if there are no descriptors or no memory
  // for it; then there is no such command.
  void start(const Launch& launch);
  // Sets the fence: from `moment` on nothing of the command may live. The guard sees to that even if zklock is frozen.
  // A later fence does not wake the guard. A guard that does not kill at the fence is treated like one that was killed.
  void set_fence(Deadline moment);
  // To be called when the command has ended: what it left behind may run on without a lock, and there is no fence any
  // more.
  void let_go();
  // Ends the guard, while zklock goes on, if nothing is left of the last command. To be called when no command follows
  // and `at_end` is not needed any more.
  void dismiss();
  // Returns whether the guard has killed at the fence.
  bool fenced() const { return page_->fenced; }
  // Passes a signal on to the command. Ignores failures: record() notices that the guard is gone, and a guard that
  // stands still is taken over at the fence.
  void forward(int signal) { send(channel_, {OrderKind::forward, signal}); }
  // Sends TERM to the command and all its descendants, and KILL to those left after `grace`. Then the phase is `gone`.
  void finish(Duration grace);

  CommandPhase phase() const { return page_->command == command_ ? page_->phase.load() : CommandPhase::idle; }
  pid_t command() const { return page_->pid; }
  int wait_status() const { return page_->wait_status; }
  pid_t stubborn() const { return page_->stubborn; }
  // Returns a signal that could not be passed on, and forgets it; 0: none.
  int take_refused() { return page_->refused.exchange(0); }
  // Returns whether the guard itself was killed or stopped, or stood still at the fence. Unless it was let go, its
  // command is then killed in rounds, one per turn, until gone().
  bool killed() const { return state_ == GuardState::orphaned || state_ == GuardState::cleared; }
  // Returns whether nothing of the command is left, or its guard was killed after let_go().
  bool gone() const { return state_ == GuardState::cleared || phase() == CommandPhase::gone; }
  // How long something of the command lived after the fence, including the time that dying takes. To be called when it
  // is gone.
  Duration overrun() const { return Duration(page_->overrun); }
  // Returns errno if the command could not be executed; 0: it was.
  int exec_error() const { return page_->exec_error; }
  bool executed() const { return page_->exec_error == 0; }
  // Throws a Failure (126 or 127) if the command could not be executed.
  void check_execution() const {
    if (!executed()) throw cannot_execute(program_, page_->exec_error);
  }

  // Names another guard of this zklock, which we must not end, nor its command.
  void spare(const Guard& other) { spared_.push_back(other.pid_); }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  enum class GuardState {
    alive,
    dismissed,
    orphaned,  // the guard is gone; we kill its tree
    cleared,   // the guard is gone, and its tree is gone or was let go
  };

  void reap_strangers();
  void look_after_guard();
  Deadline stands_still_from() const;
  void take_over();
  bool end_tree();
  ControlGroup group() const { return page_->has_group ? ControlGroup(page_->group) : ControlGroup(); }

  Program program_;
  std::unique_ptr<GuardPage, void (*)(GuardPage*)> page_;
  Fd channel_;
  Fd child_signal_ = open_child_signal();
  bool child_changed_ = false;
  pid_t pid_ = 0;
  std::vector<pid_t> spared_;  // other guards, and children from before an exec: not ours to kill
  int command_ = 0;            // number of the last command; 0: none was started
  GuardState state_ = GuardState::alive;
};

}  // namespace zklock::host
