// SPDX-License-Identifier: Apache-2.0
#include "command/group/watching.h"

#include "base/text.h"
#include "host/terminal.h"
#include "recipe/group/group.h"

#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

using recipe::GroupRoster;
using recipe::GroupState;

Watching::Watching(zk::SessionOptions session, WatchOptions options, const host::Inherited& inherited)
    : options_(std::move(options)),
      session_(loop_, std::move(session)),
      roster_(session_, options_.path, options_.form == GroupForm::json) {
  if (options_.program) {
    guard_.emplace(host::Service::again, *options_.program, inherited);
    attached_.emplace(loop_, *guard_);
  } else {
    outlet_.emplace();
    attached_.emplace(loop_, *outlet_);
  }
}

void Watching::run() {
  const std::string tried = "cannot watch " + options_.path;
  session_.set_purpose(tried);
  try {
    do {
      session_.open(kNever);
    } while (recipe::look_at_group(session_, options_.path, tried, kNever) == GroupState::expired);
    for (;;) {
      look();
      guard_ ? run_command() : write_changes();
      wait();
    }
  } catch (...) {
    session_.close();
    throw;
  }
}

void Watching::look() {
  // The whole list shall say what is so now; a line is about one that is new.
  if (guard_ && options_.form == GroupForm::json) roster_.forget();
  while (roster_.look(kNever) == GroupRoster::State::expired) {
    remark("the session expired; looking again");
    session_.open(kNever);
  }
  session_.set_enduring(true);
}

void Watching::write_changes() {
  std::string text;
  for (const recipe::MemberChange& change : recipe::changes_between(told_, roster_.members())) {
    text += text_of(options_.path, change, roster_.members(), options_.form);
  }
  told_ = roster_.members();
  write(text);
}

void Watching::write(std::string_view text) {
  while (!text.empty()) {
    const size_t taken = outlet_->write(text);
    text.remove_prefix(taken);
    if (taken > 0) continue;
    outlet_->want(true);
    session_.turn(kNever);
    outlet_->want(false);
  }
}

// What changes while it runs is looked at when it has ended.
void Watching::run_command() {
  const bool changed = !recipe::changes_between(told_, roster_.members()).empty();
  if (!changed && !first_) return;
  first_ = false;
  told_ = roster_.members();
  loop_.remove(end_on_signal_);
  guard_->start({{"ZKLOCK_PATH=" + options_.path, "ZKLOCK_SERVERS=" + session_.options().servers.text()},
                 {},
                 text_of(options_.path, told_, options_.form)});
  attend_command();
  if (end_signal_ != 0) throw Failure::by_signal(end_signal_);
  report_end();
  loop_.add(end_on_signal_);
}

// What it leaves behind runs on.
void Watching::attend_command() {
  while (guard_->killed() || guard_->phase() < host::CommandPhase::ended) {
    if (guard_->killed() && guard_->gone()) {
      throw Failure(
          ExitStatus::lost,
          fmt::format("cannot watch {} any more: the guard was killed; the command was stopped", options_.path));
    }
    session_.turn(kNever);
    pass_on_signals();
  }
  guard_->let_go();
}

// The command's, and then ours. With the second one that shall end us we do not wait any longer.
void Watching::pass_on_signals() {
  while (const auto arrival = signals_.take()) {
    guard_->forward(arrival->signal);
    if (end_signal_ != 0 && host::is_ending(arrival->signal)) throw Failure::by_signal(arrival->signal);
    if (host::is_ending(arrival->signal)) end_signal_ = arrival->signal;
  }
}

void Watching::report_end() const {
  guard_->check_execution();
  const int status = guard_->wait_status();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  host::remark(fmt::format("zklock: {} ended {} {}; still watching {}\n", printable(options_.program->arguments[0]),
                           WIFEXITED(status) ? "with status" : "by signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), options_.path));
}

void Watching::wait() {
  while (!roster_.is_stale()) {
    session_.turn(kNever);
    report_connection();
  }
}

void Watching::report_connection() {
  if (session_.connected() == connected_ || session_.expired()) return;
  connected_ = session_.connected();
  remark(connected_ ? "reconnected to " + session_.server() : "the connection was lost");
}

void Watching::remark(const std::string& text) const {
  if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
}

}  // namespace zklock::command
