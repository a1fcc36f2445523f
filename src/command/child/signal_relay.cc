// SPDX-License-Identifier: Apache-2.0
#include "command/child/signal_relay.h"

#include "host/terminal.h"

#include <csignal>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kToStop = 100ms;  // after Ctrl-Z

}  // namespace

void SignalRelay::pass_on() {
  while (const auto arrival = signals_.take()) {
    ending_wanted_ |= host::is_ending(arrival->signal);
    if (!arrival->reached_group) {
      guard_.forward(arrival->signal);
    } else if (arrival->signal == SIGTSTP) {
      terminal_stop_ = true;
      nudge_at_ = deadline_in(kToStop);
    }
  }
}

void SignalRelay::continue_stopped() {
  if (!terminal_stop_) return;
  const bool stopped = guard_.phase() == host::CommandPhase::stopped;
  if (!stopped && left_until(nudge_at_) > Duration::zero()) return;
  nudge_at_ = kNever;
  host::continue_group();
  // It may be a shell that is in vfork: it waits for its child, which has stopped before it could execute anything, and
  // without us would do so for ever. Or it does not stop, or later.
  if (!stopped) return;
  terminal_stop_ = false;
  host::remark(fmt::format("zklock: continued: a command that is stopped would lose {}\n", loss_));
}

}  // namespace zklock::command
