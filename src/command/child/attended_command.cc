// SPDX-License-Identifier: Apache-2.0
#include "command/child/attended_command.h"

#include "host/trace.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;
using host::CommandPhase;
using recipe::LeaseState;

constexpr Duration kDying = 150ms;   // how long the kernel may take to end what was killed in time
constexpr Duration kToStop = 100ms;  // how long the command may take to stop after Ctrl-Z

}  // namespace

void GuardTrouble::report() {
  if (const int signal = guard_.take_refused()) {
    say(fmt::format("may not send SIG{} to {}: it runs as another user", sigabbrev_np(signal), command_));
  }
  const pid_t stubborn = guard_.stubborn();
  if (stubborn == 0 || stubborn == named_stubborn_) return;
  named_stubborn_ = stubborn;
  say(fmt::format("process {} does not end; still trying", stubborn));
}

std::string end_of(const std::string& subject, Duration overrun) {
  if (overrun <= kDying) return subject + " was stopped";
  return fmt::format("{} went on for {} past the fence", subject, format_duration(overrun));
}

int status_of_command(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  if (host::is_ending(signal)) throw Failure::by_signal(signal);
  return 128 + signal;
}

void AttendedCommand::start(const std::vector<std::string>& variables) {
  if (terms_.lease) guard_.set_fence(fence());
  guard_.start({variables, {}, {}, terms_.nested});
  stage_ = CommandStage::running;
  host::trace("started", {{"fence", fence()}});
}

void AttendedCommand::attend(host::Loop& loop, const std::vector<std::string>& variables) {
  host::NestingMarks nest(terms_.tokens);
  const host::Attached awaiting_nested(loop, nest);
  nest_ = &nest;
  look_for_loss();
  if (lost()) {
    stage_ = CommandStage::never_started;
  } else {
    start(variables);
  }
  while (!is_over() && !look()) loop.turn(next());
  nest_ = nullptr;
}

void AttendedCommand::decide() {
  if (stage_ != CommandStage::idle && !is_over() && look()) throw Failure(ExitStatus::done, "");
}

// Returns true once the command is over.
bool AttendedCommand::look() {
  pass_on_signals();
  if (!(stage_ == CommandStage::holding ? holding_is_over() : running_is_over())) return false;
  stage_ = CommandStage::over;
  trace_end();
  // Processes that may be left run on without the lock.
  guard_.let_go();
  return true;
}

void AttendedCommand::trace_end() const {
  if (guard_.fenced() || guard_.killed()) {
    host::trace("killed by the guard", {{"command", guard_.command()}, {"overrun", guard_.overrun().count()}});
  } else {
    host::trace("ended", {{"command", guard_.command()}, {"status", guard_.wait_status()}, {"lost", lost()}});
  }
}

bool AttendedCommand::running_is_over() {
  if (terms_.lease) guard_.set_fence(fence());
  continue_stopped();
  trouble_.report();
  if (stage_ == CommandStage::running && guard_.phase() == CommandPhase::ended && ending_wanted_) finish();
  // A command that ended by itself before a loss keeps its own status.
  if (stage_ == CommandStage::running && has_ended()) return hold_on();
  look_for_loss();
  if (terms_.lease && console_.verbose()) {
    console_.report_connection(fmt::format("; {} of the lease left", format_duration(left_until(fence()))));
  }
  return stage_ == CommandStage::finishing && guard_.gone();
}

void AttendedCommand::pass_on_signals() {
  while (const auto arrival = signals_.take()) {
    ending_wanted_ |= host::is_ending(arrival->signal);
    if (!arrival->reached_group) {
      guard_.forward(arrival->signal);
    } else if (arrival->signal == SIGTSTP) {
      stop_ = deadline_in(kToStop);
    }
  }
}

// Ctrl-Z stops the command, as it stops zklock's whole process group. Under a lock, both have to go on. So the group is
// continued as soon as the command has stopped, or should have.
void AttendedCommand::continue_stopped() {
  if (!stop_) return;
  const bool stopped = guard_.phase() == CommandPhase::stopped;
  if (!stopped && left_until(*stop_) > Duration::zero()) return;
  host::continue_group();
  // The command may be a shell in vfork. Its child was stopped before it could execute anything, and without this
  // signal the shell would wait for it for ever. Or the command does not stop at all, or later.
  stop_ = stopped ? std::nullopt : std::optional(kNever);
  if (stopped) say("continued: a command that is stopped would lose " + terms_.loss);
}

bool AttendedCommand::has_ended() {
  if (guard_.killed() || guard_.fenced()) return false;
  const CommandPhase phase = guard_.phase();
  if (phase < CommandPhase::ended) return false;
  if (phase == CommandPhase::gone) return true;
  return !terms_.wait_all && (!nest_ || !nest_->close_and_look());
}

// Only a proof that is younger than the command's end shows that the lock was not lost before that.
bool AttendedCommand::hold_on() {
  ended_ = BootClock::now();
  if (!terms_.lease) return true;
  stage_ = CommandStage::holding;
  guard_.let_go();
  terms_.lease->ask();
  return holding_is_over();
}

bool AttendedCommand::holding_is_over() {
  if (ending_wanted_ || !guard_.executed() || BootClock::now() >= terms_.hold_until) return true;
  if (is_held_on() && !std::exchange(held_on_said_, true)) {
    console_.detail(fmt::format("the command has ended; the lock is held on for {}",
                                format_duration(left_until(terms_.hold_until))));
  }
  if (terms_.lease->state() == LeaseState::held) return false;
  const bool deleted = terms_.lease->state() == LeaseState::node_deleted;
  if (is_held_on() || !deleted) say("lost the lock before --min-hold was over");
  return true;
}

void AttendedCommand::look_for_loss() {
  if (lost()) return;
  guard_lost_ = guard_.killed();
  if (terms_.lease && !guard_lost_) loss_ = guard_.fenced() ? LeaseState::unproved : terms_.lease->state();
  if (lost()) finish();
}

std::string AttendedCommand::reason() const {
  switch (loss_) {
    case LeaseState::held: return "the guard was killed";
    case LeaseState::node_deleted: return "its node was deleted";
    case LeaseState::revoked: return "revoked (zklock break)";
    case LeaseState::session_over: return "the session expired";
    case LeaseState::unproved: break;
  }
  return "no quorum confirmed the lock for " + format_duration(BootClock::now() - terms_.lease->proved());
}

void AttendedCommand::finish() {
  if (stage_ == CommandStage::idle) return;
  stage_ = CommandStage::finishing;
  guard_.finish(std::min(terms_.grace, left_until(fence())));
}

Failure AttendedCommand::loss(const std::string& what) const {
  const std::string known = terms_.lease ? terms_.lease->lost() : "";
  const std::string end =
      stage_ == CommandStage::never_started ? "the command was not started" : end_of("the command", guard_.overrun());
  return {ExitStatus::lost, fmt::format("lost {}: {}; {}", known.empty() ? what : known, reason(), end)};
}

int AttendedCommand::status(const std::string& what) const {
  if (lost()) throw loss(what);
  guard_.check_execution();
  return status_of_command(guard_.wait_status());
}

}  // namespace zklock::command
