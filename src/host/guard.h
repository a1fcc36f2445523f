// SPDX-License-Identifier: Apache-2.0
// zklock's side of its guard (guard_process.h): starts the command, passes signals on, learns how it ended. Made
// before there is a ZooKeeper handle, because a fork must not hold a copy of that. If the guard is killed or stopped,
// zklock inherits the command's tree and ends it itself.
#pragma once

#include "base/time.h"
#include "host/child_signal.h"
#include "host/fd.h"
#include "host/guard_page.h"
#include "host/inherited.h"
#include "host/loop.h"
#include "host/program.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::host {

class Guard : public Source {
 public:
  // Forks. `program` is found already.
  Guard(Program program, const Inherited& inherited);
  Guard(const Guard&) = delete;
  // Ends the guard, and the command's tree unless that was let go.
  ~Guard();

  void start(const std::vector<std::string>& variables);
  // From `moment` on nothing of the command may live: the guard sees to that even if zklock is frozen. Moving it on
  // wakes nobody. A guard that does not kill at the fence is treated as one that was killed.
  void set_fence(Deadline moment);
  // The command has ended, and what it left behind may run on without a lock: there is no fence any more.
  void let_go();
  // The guard has killed at the fence.
  bool fenced() const { return page_->fenced; }
  void forward(int signal);
  // TERM to the command and all its descendants, KILL to those left after `grace`; then the phase is `gone`.
  void finish(Duration grace);

  CommandPhase phase() const { return page_->phase; }
  int wait_status() const { return page_->wait_status; }
  int stop_signal() const { return page_->stop_signal; }
  pid_t stubborn() const { return page_->stubborn; }
  // A signal that could not be passed on, once.
  int take_refused() { return page_->refused.exchange(0); }
  // The guard itself was killed or stopped. Its command is being killed, in rounds, one a turn; gone() says when that
  // is done.
  bool killed() const { return state_ == State::orphaned || state_ == State::cleared; }
  // Nothing of the command is left.
  bool gone() const;
  bool executed() const { return page_->exec_error == 0; }
  // Throws if the command could not be executed.
  void check_execution() const;

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  void decide() override;

 private:
  enum class State {
    alive,
    orphaned,  // the guard is no more; we kill its tree
    cleared,   // and that is done
  };

  void send_order(Order order, std::string_view rest = {});
  void look_after_guard();
  bool stands_still() const;
  void take_over();

  Program program_;
  std::unique_ptr<GuardPage, void (*)(GuardPage*)> page_;
  Fd channel_;
  ChildSignal child_signal_;
  bool child_changed_ = false;
  pid_t pid_ = 0;
  std::vector<pid_t> spared_;  // children from before, by an exec: not ours to kill
  bool started_ = false;
  State state_ = State::alive;
};

}  // namespace zklock::host
