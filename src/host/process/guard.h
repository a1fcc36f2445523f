// SPDX-License-Identifier: Apache-2.0
// zklock's side of its guard (guard_process.cc): starts a command, passes signals on, learns how it ended. Made before
// there is a ZooKeeper handle, because a fork must not hold a copy of that. If the guard is killed, or stopped
// while a command runs, zklock inherits the command's tree and ends it itself.
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
  // To be done at the end. No temporary: GCC 12 believes that its destructor reads what is not initialized.
  inline static const std::function<void()> kNothing = {};

  // Forks. `program` is found already. `at_end` is done by the guard, if zklock was killed and is dead and nothing of
  // the command is left: then it has closed all its descriptors, and must come to its own end soon.
  Guard(Service service, Program program, const Inherited& inherited, const std::function<void()>& at_end = kNothing);
  Guard(const Guard&) = delete;
  // Ends the guard, and the command's tree unless that was let go.
  ~Guard();

  // With Service::again also when the last command has ended and was let go. From then on all that follows speaks of
  // this one. Throws a Failure where there are no descriptors or no memory for it; then there is no such command.
  void start(const Launch& launch);
  // From `moment` on nothing of the command may live: the guard sees to that even if zklock is frozen. Moving it on
  // wakes nobody. A guard that does not kill at the fence is treated as one that was killed.
  void set_fence(Deadline moment);
  // The command has ended, and what it left behind may run on without a lock: there is no fence any more.
  void let_go();
  // No command comes any more, nor is the guard's end of any use. Where nothing is left of the last command, the guard
  // ends while zklock goes on.
  void dismiss();
  // The guard has killed at the fence.
  bool fenced() const { return page_->fenced; }
  // A guard that is gone is noticed in record(); one that stands still is taken over at the fence.
  void forward(int signal) { send(channel_, {OrderKind::forward, signal}); }
  // TERM to the command and all its descendants, KILL to those left after `grace`; then the phase is `gone`.
  void finish(Duration grace);

  CommandPhase phase() const { return page_->command == command_ ? page_->phase.load() : CommandPhase::idle; }
  pid_t command() const { return page_->pid; }
  int wait_status() const { return page_->wait_status; }
  int stop_signal() const { return page_->stop_signal; }
  pid_t stubborn() const { return page_->stubborn; }
  // A signal that could not be passed on, once.
  int take_refused() { return page_->refused.exchange(0); }
  // The guard itself was killed or stopped. Its command is being killed, in rounds, one a turn; gone() says when that
  // is done.
  bool killed() const { return state_ == GuardState::orphaned || state_ == GuardState::cleared; }
  // Nothing of the command is left.
  bool gone() const { return state_ == GuardState::cleared || phase() == CommandPhase::gone; }
  // After that: how long something of it lived after the fence, be it only to die.
  Duration overrun() const { return Duration(page_->overrun); }
  // Why it could not be executed, an errno; 0: it was.
  int exec_error() const { return page_->exec_error; }
  bool executed() const { return page_->exec_error == 0; }
  // Throws if the command could not be executed.
  void check_execution() const {
    if (!executed()) throw cannot_execute(program_, page_->exec_error);
  }

  // Another guard of this zklock: neither it nor its command is ours to end.
  void spare(const Guard& other) { spared_.push_back(other.pid_); }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  enum class GuardState {
    alive,
    dismissed,
    orphaned,  // the guard is no more; we kill its tree
    cleared,   // and that is done
  };

  void look_after_guard();
  bool stands_still() const;
  void take_over();
  bool end_tree();
  ControlGroup group() const { return page_->has_group ? ControlGroup(page_->group) : ControlGroup(); }

  Program program_;
  std::unique_ptr<GuardPage, void (*)(GuardPage*)> page_;
  Fd channel_;
  ChildSignal child_signal_;
  bool child_changed_ = false;
  pid_t pid_ = 0;
  std::vector<pid_t> spared_;  // children from before, by an exec, and other guards: not ours to kill
  int command_ = 0;            // how many were started
  GuardState state_ = GuardState::alive;
};

}  // namespace zklock::host
