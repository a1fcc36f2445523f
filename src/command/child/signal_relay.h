// SPDX-License-Identifier: Apache-2.0
// Between the signals that come to zklock and the command that it runs: they are the command's. One that Ctrl-Z has
// stopped is continued.
#pragma once

#include "command/child/guard_trouble.h"
#include "host/process/guard.h"
#include "host/signals.h"

#include <string>

namespace zklock::command {

class SignalRelay {
 public:
  // Both are in the loop. `loss`: what a command that is stopped would lose, "its lock".
  SignalRelay(host::Signals& signals, host::Guard& guard, std::string loss)
      : signals_(signals), guard_(guard), trouble_(guard, "the command"), loss_(std::move(loss)) {}

  // All that have come.
  void pass_on();
  // To be called at every turn, and at `next()`.
  void continue_stopped();
  // kNever: nothing is to be done without a signal, or a change of the command's.
  Deadline next() const { return nudge_at_; }
  // Says what could not be done to the command, once.
  void report_trouble() { trouble_.report(); }

  // Somebody wanted the command to end.
  bool ending_wanted() const { return ending_wanted_; }

 private:
  host::Signals& signals_;
  host::Guard& guard_;
  GuardTrouble trouble_;
  std::string loss_;
  bool ending_wanted_ = false;
  bool terminal_stop_ = false;  // Ctrl-Z was pressed and not answered yet
  Deadline nudge_at_ = kNever;  // then the command should have stopped by now
};

}  // namespace zklock::command
