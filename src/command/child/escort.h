// SPDX-License-Identifier: Apache-2.0
// Goes with a command that runs without a lock: it gets the signals, and what it leaves behind is ended if a signal
// had ended it. Nothing else ends it. A source of the loop, so that it works whatever zklock waits for meanwhile.
#pragma once

#include "command/child/signal_relay.h"
#include "host/process/guard.h"
#include "host/signals.h"

#include <string>
#include <vector>

namespace zklock::command {

class Escort : public host::Source {
 public:
  // Both are in the loop. `loss`: what a command that is stopped would lose. `grace`: between SIGTERM and SIGKILL.
  Escort(host::Signals& signals, host::Guard& guard, std::string loss, Duration grace)
      : relay_(signals, guard, std::move(loss)), guard_(guard), grace_(grace) {}

  // `variables` are added to its environment.
  void start(const std::vector<std::string>& variables);
  bool is_over() const { return over_; }
  // After that: its status, or a Failure for how else it has ended. `tried` is for messages.
  int status(std::string_view tried) const;

  void arm(host::PollSet& set) override {
    if (!over_) set.wake_at(relay_.next());
  }
  void record(const host::PollSet&) override {}
  // Once it is over, throws a Failure without a text, once, to end whatever zklock waits for.
  void decide() override;

 private:
  bool has_ended();

  SignalRelay relay_;
  host::Guard& guard_;
  Duration grace_;
  bool started_ = false;
  bool finishing_ = false;
  bool over_ = false;
};

}  // namespace zklock::command
