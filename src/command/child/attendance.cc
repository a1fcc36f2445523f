// SPDX-License-Identifier: Apache-2.0
#include "command/child/attendance.h"

#include "host/terminal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

using host::CommandPhase;

Attendance::End Attendance::attend(const std::vector<std::string>& variables) {
  guard_.set_fence(lease_.fence());
  guard_.start({variables});
  while (!is_over()) loop_.turn(stage_ == Stage::holding ? terms_.hold_until : relay_.next());
  // What may be left runs on without the lock.
  guard_.let_go();
  return end_;
}

bool Attendance::is_over() {
  relay_.pass_on();
  if (stage_ == Stage::holding) return holding_is_over();
  guard_.set_fence(lease_.fence());
  look_at_command();
  // What has ended by itself before anything was lost keeps its own status.
  if (stage_ == Stage::running && has_ended()) {
    hold_on();
    return holding_is_over();
  }
  look_at_lock();
  relay_.report_trouble();
  if (terms_.verbose) report_connection();
  return stage_ == Stage::finishing && guard_.gone();
}

bool Attendance::has_ended() {
  if (guard_.killed() || guard_.fenced()) return false;
  const CommandPhase phase = guard_.phase();
  if (phase < CommandPhase::ended) return false;
  if (phase == CommandPhase::gone) return true;
  return !terms_.wait_all && !nest_.close_and_look();
}

// Only a proof that is younger than the command's end tells that the lock was not lost before.
void Attendance::hold_on() {
  stage_ = Stage::holding;
  ended_ = BootClock::now();
  guard_.let_go();
  lease_.ask();
}

bool Attendance::holding_is_over() {
  if (ending_wanted() || !guard_.executed() || BootClock::now() >= terms_.hold_until) return true;
  if (terms_.verbose && is_held_on() && !std::exchange(held_on_said_, true)) {
    host::remark(fmt::format("zklock: the command has ended; the lock is held on for {}\n",
                             format_duration(left_until(terms_.hold_until))));
  }
  if (lease_.state() == recipe::Lease::State::held) return false;
  const bool deleted = lease_.state() == recipe::Lease::State::node_deleted;
  if (is_held_on() || !deleted) host::remark("zklock: lost the lock before --min-hold was over\n");
  return true;
}

void Attendance::look_at_lock() {
  if (end_ != End::own) return;
  if (guard_.killed()) return finish(End::guard_killed);
  if (guard_.fenced()) return finish(End::unproved);
  switch (lease_.state()) {
    case recipe::Lease::State::held:
      break;
    case recipe::Lease::State::node_deleted:
      return finish(End::node_deleted);
    case recipe::Lease::State::revoked:
      return finish(End::revoked);
    case recipe::Lease::State::expired:
      return finish(End::expired);
    case recipe::Lease::State::unproved:
      return finish(End::unproved);
  }
}

void Attendance::look_at_command() {
  relay_.continue_stopped();
  const bool ended = guard_.phase() == CommandPhase::ended;
  if (ended && stage_ == Stage::running && ending_wanted()) finish(End::own);
}

void Attendance::report_connection() {
  if (session_.connected() == connected_) return;
  connected_ = session_.connected();
  host::remark(fmt::format("zklock: {}; {} of the lease left\n",
                           connected_ ? "reconnected to " + session_.server() : "the connection was lost",
                           format_duration(left_until(lease_.fence()))));
}

void Attendance::finish(End end) {
  stage_ = Stage::finishing;
  end_ = end;
  guard_.finish(std::min(terms_.grace, left_until(lease_.fence())));
}

}  // namespace zklock::command
