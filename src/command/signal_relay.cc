// SPDX-License-Identifier: Apache-2.0
#include "command/signal_relay.h"

#include "host/terminal.h"

#include <csignal>

#include <fmt/format.h>

namespace zklock::command {

void SignalRelay::pass_on() {
  while (const auto arrival = signals_.take()) {
    ending_wanted_ |= host::is_ending(arrival->signal);
    if (arrival->reached_group) {
      terminal_stop_ |= arrival->signal == SIGTSTP;
    } else {
      guard_.forward(arrival->signal);
    }
  }
}

void SignalRelay::continue_stopped() {
  if (guard_.phase() != host::CommandPhase::stopped || !terminal_stop_) return;
  terminal_stop_ = false;
  host::continue_group();
  host::remark(fmt::format("zklock: continued: a command that is stopped would lose {}\n", loss_));
}

}  // namespace zklock::command
