// SPDX-License-Identifier: Apache-2.0
#include "command/queue/supervision.h"

#include "host/terminal.h"

#include <csignal>

#include <fmt/format.h>

namespace zklock::command {

using recipe::Lease;

void Supervision::decide() {
  for (Worker& worker : crew_) worker.report_trouble();
  if (told_) return;
  while (const auto arrival = signals_.take()) take(*arrival);
  if (!crew_.is_busy()) return;
  for (Worker& worker : crew_) {
    if (!worker.is_free()) worker.guard().set_fence(lease_->fence());
  }
  look_at_claims();
}

void Supervision::take(host::Arrival arrival) {
  switch (arrival.signal) {
    case SIGTSTP:
      host::remark("zklock: not stopped: a consumer that is stopped would lose its claims\n");
      [[fallthrough]];
    case SIGCONT:
    case SIGTTOU:
    case SIGWINCH:
      return;
  }
  if (!crew_.is_busy()) {
    told_ = true;
    throw Failure::by_signal(arrival.signal);
  }
  if (host::is_ending(arrival.signal) && asked_ == 0) {
    asked_ = arrival.signal;
  } else {
    crew_.interrupt(arrival.signal);
  }
}

void Supervision::look_at_claims() {
  for (const Worker& worker : crew_) {
    if (worker.is_free()) continue;
    if (worker.guard().killed()) lose("a guard was killed");
    if (worker.guard().fenced()) lose(unproved());
  }
  switch (lease_->state()) {
    case Lease::State::held:
      break;
    case Lease::State::node_deleted:
    case Lease::State::revoked:
      lose("it was deleted");
    case Lease::State::expired:
      lose("the session expired");
    case Lease::State::unproved:
      lose(unproved());
  }
}

std::string Supervision::unproved() const {
  return fmt::format("no quorum confirmed it for {}", format_duration(BootClock::now() - lease_->proved()));
}

void Supervision::lose(const std::string& reason) {
  told_ = true;
  loss_ = fmt::format("lost the claim on an item of {}: {}", queue_, reason);
  throw Failure(ExitStatus::lost, loss_);
}

}  // namespace zklock::command
