// SPDX-License-Identifier: Apache-2.0
#include "command/child/escort.h"

#include "command/child/command_status.h"

#include <fmt/format.h>

namespace zklock::command {

using host::CommandPhase;

void Escort::start(const std::vector<std::string>& variables) {
  guard_.start({variables});
  started_ = true;
}

void Escort::decide() {
  if (!started_ || over_) return;
  relay_.pass_on();
  relay_.continue_stopped();
  relay_.report_trouble();
  over_ = has_ended();
  if (!over_) return;
  // What may be left runs on.
  guard_.let_go();
  throw Failure(ExitStatus::done, "");
}

bool Escort::has_ended() {
  if (guard_.killed() || guard_.phase() == CommandPhase::gone) return guard_.gone();
  if (guard_.phase() != CommandPhase::ended) return false;
  if (!relay_.ending_wanted()) return true;
  if (!finishing_) guard_.finish(grace_);
  finishing_ = true;
  return false;
}

int Escort::status(std::string_view tried) const {
  if (guard_.killed()) {
    throw Failure(ExitStatus::lost, fmt::format("{}: the guard was killed; the command was stopped", tried));
  }
  guard_.check_execution();
  return status_of_command(guard_.wait_status());
}

}  // namespace zklock::command
