// SPDX-License-Identifier: Apache-2.0
#include "command/group/joining.h"

#include "base/text.h"
#include "base/time.h"
#include "command/child/nesting.h"
#include "host/terminal.h"
#include "recipe/lock/protected_node.h"
#include "zk/path.h"
#include "zk/timing.h"

#include <csignal>

#include <fmt/format.h>

namespace zklock::command {

using State = recipe::GroupMember::State;

void Joining::Stay::decide() {
  while (!ended_) {
    const auto arrival = signals_.take();
    if (!arrival) return;
    // The terminal's own says that it is gone.
    const bool reload = arrival->signal == SIGHUP && reloads_ && !arrival->reached_group;
    reload_ |= reload;
    ended_ = !reload;
    if (ended_) throw Failure::by_signal(arrival->signal);
  }
}

Joining::Joining(zk::SessionOptions session, JoinOptions options, const host::Inherited& inherited)
    : options_(std::move(options)),
      tried_("cannot join " + options_.membership.group),
      stay_(signals_, !options_.program && options_.data.can_change()),
      session_(loop_, std::move(session)),
      member_(session_, options_.membership) {
  if (!options_.program) return;
  guard_.emplace(host::Service::once, *options_.program, inherited);
  guarding_.emplace(loop_, *guard_);
}

int Joining::run() {
  session_.set_purpose(tried_);
  try {
    join();
    keep();
  } catch (...) {
    member_.leave(recipe::withdrawal_budget(session_));
    session_.close();
    if (!escort_ || !escort_->is_over()) throw;
  }
  return escort_->status("lost " + options_.membership.group);
}

void Joining::join() {
  session_.open(options_.until);
  enter(options_.until, options_.waits);
  session_.set_enduring(true);
  if (guard_) start_command();
}

void Joining::enter(Deadline until, bool waits) {
  for (;;) {
    switch (member_.join(until)) {
      case State::in:
        return remark(fmt::format("joined {} as {}", options_.membership.group, name()));
      case State::taken:
        if (!waits) fail_taken();
        remark(fmt::format("waiting until nobody else in {} is {}", options_.membership.group,
                           printable(options_.membership.name)));
        if (!member_.wait_for_name(until)) fail_taken();
        break;
      case State::removed:
        check_member();
        break;
      case State::expired:
        member_.forget();
        session_.open(until);
        break;
    }
  }
}

// From here on signals are the command's.
void Joining::start_command() {
  loop_.remove(stay_);
  signals_.take_job_control();
  escort_.emplace(signals_, *guard_, "its membership", zk::usual_grace_of(session_.timeout()));
  escorting_.emplace(loop_, *escort_);
  std::vector<std::string> variables{"ZKLOCK_PATH=" + options_.membership.group, "ZKLOCK_NODE=" + member_.path(),
                                     "ZKLOCK_SERVERS=" + session_.options().servers.text()};
  // The locks of a zklock that runs us are the command's too.
  if (const auto outer = Nesting({}, 0).variable({})) variables.push_back(*outer);
  escort_->start(variables);
}

// Ends by what is thrown.
void Joining::keep() {
  try {
    for (;;) look_after();
  } catch (const Failure& failure) {
    if (!escort_ || escort_->is_over()) throw;
    // The command runs on, member or not.
    host::remark(fmt::format("zklock: {}\n", failure.text()));
  }
  member_.forget();
  session_.close();
  for (;;) loop_.turn(kNever);
}

void Joining::look_after() {
  report_connection();
  if (session_.expired()) {
    join_again();
  } else if (member_.is_disturbed()) {
    check_member();
  } else if (stay_.take_reload()) {
    reload();
  } else {
    session_.turn(kNever);
  }
}

void Joining::check_member() {
  if (member_.look(kNever) != State::removed) return;
  const std::string removed = name();
  member_.forget();
  throw Failure(ExitStatus::lost,
                fmt::format("no member of {} any more: somebody has removed {}", options_.membership.group, removed));
}

void Joining::join_again() {
  remark(fmt::format("the session expired; joining {} again", options_.membership.group));
  member_.forget();
  session_.open(kNever);
  enter(kNever, true);
}

void Joining::reload() {
  if (const auto trouble = options_.data.read_again()) {
    host::remark(fmt::format("zklock: {}; the data stays as it is\n", *trouble));
    return;
  }
  if (member_.set_data(options_.data.bytes(), kNever) == State::in) remark("the data was read again");
}

void Joining::report_connection() {
  if (session_.connected() == connected_ || session_.expired()) return;
  connected_ = session_.connected();
  remark(connected_ ? "reconnected to " + session_.server() : "the connection was lost");
}

void Joining::remark(const std::string& text) const {
  if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
}

std::string Joining::name() const {
  return printable(zk::name_of(member_.path()));
}

void Joining::fail_taken() const {
  const zk::Stat& stat = member_.taken_by();
  throw Failure(
      ExitStatus::busy,
      fmt::format("{} as '{}': the name is taken, for {}, by session {}; choose another, or wait for it with -w",
                  tried_, printable(options_.membership.name), format_duration(age_of(stat.created_ms)),
                  zk::session_name(stat.ephemeral_owner)));
}

}  // namespace zklock::command
