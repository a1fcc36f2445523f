// SPDX-License-Identifier: Apache-2.0
#include "command/attendance.h"

#include "host/terminal.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

namespace zklock::command {

using host::CommandPhase;

Attendance::End Attendance::attend(const std::vector<std::string>& variables) {
  guard_.start(variables);
  while (!is_over()) loop_.turn(kNever);
  return end_;
}

bool Attendance::is_over() {
  while (const auto arrival = signals_.take()) pass_on(*arrival);
  if (guard_.killed() && end_ == End::own) finish(End::guard_killed);
  switch (lease_.state()) {
    case recipe::Lease::State::held:
      break;
    case recipe::Lease::State::node_deleted:
      if (end_ == End::own) finish(End::node_deleted);
      break;
    case recipe::Lease::State::expired:
      if (end_ == End::own) finish(End::expired);
      break;
  }
  look_at_command();
  if (stage_ == Stage::finishing) return guard_.gone();
  return guard_.phase() >= CommandPhase::ended;
}

void Attendance::look_at_command() {
  switch (guard_.phase()) {
    case CommandPhase::idle:
    case CommandPhase::running:
    case CommandPhase::gone:
      break;
    case CommandPhase::stopped:
      if (!terminal_stop_) break;
      terminal_stop_ = false;
      host::continue_group();
      host::remark("zklock: continued: a command that is stopped would lose its lock\n");
      break;
    case CommandPhase::ended:
      if (stage_ == Stage::running && ending_signal_) finish(End::own);
      break;
  }
  if (const int signal = guard_.take_refused()) {
    host::remark(
        fmt::format("zklock: may not send SIG{} to the command: it runs as another user\n", sigabbrev_np(signal)));
  }
  const pid_t stubborn = guard_.stubborn();
  if (stubborn == 0 || stubborn == named_stubborn_) return;
  named_stubborn_ = stubborn;
  host::remark(fmt::format("zklock: process {} does not end; still trying\n", stubborn));
}

void Attendance::pass_on(host::Arrival arrival) {
  ending_signal_ |= host::is_ending(arrival.signal);
  if (arrival.reached_group) {
    terminal_stop_ |= arrival.signal == SIGTSTP;
  } else {
    guard_.forward(arrival.signal);
  }
}

void Attendance::finish(End end) {
  stage_ = Stage::finishing;
  end_ = end;
  guard_.finish(grace_);
}

}  // namespace zklock::command
