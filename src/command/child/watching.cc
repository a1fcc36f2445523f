// SPDX-License-Identifier: Apache-2.0
#include "command/child/watching.h"

#include "base/text.h"
#include "command/child/attended_command.h"

#include <algorithm>
#include <iterator>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

std::optional<host::Program> program_to_halt(const Call& call, bool halt) {
  if (halt && !call.arguments.separated) throw usage_error("--halt is for a command: write it behind --");
  return program_of(call);
}

}  // namespace

WatchJob::WatchJob(const Call& call, const std::string& path, bool halt)
    : WatchJob(call, path, program_to_halt(call, halt), halt) {}

WatchJob::WatchJob(const Call& call, const std::string& path, std::optional<host::Program> program, bool halt)
    : path_(path),
      halt_(halt),
      program_(std::move(program)),
      asked_(session_options(call.global)),
      session_(loop_, std::move(asked_)) {
  session_.set_purpose("cannot watch " + path_);
  if (program_) {
    guard_ = std::make_unique<host::Guard>(host::Service::again, *program_, call.inherited);
    attached_.emplace(loop_, *guard_);
  } else {
    outlet_.emplace();
    attached_.emplace(loop_, *outlet_);
  }
}

int WatchJob::run(WatchSubject& subject) {
  try {
    session_.open();
    const int status = watch(subject);
    session_.close();
    return status;
  } catch (...) {
    session_.close();
    throw;
  }
}

int WatchJob::watch(WatchSubject& subject) {
  for (;;) {
    look(subject);
    if (subject.has_news()) {
      if (!guard_) {
        write(subject.tell());
      } else if (const int status = run_command(subject)) {
        return status;
      }
    }
    wait(subject);
  }
}

void WatchJob::look(WatchSubject& subject) {
  for (bool over = false;;) {
    try {
      if (over) session_.open();
      subject.look();
      return session_.set_enduring(true);
    } catch (const zk::SessionOver&) {
      console_.detail("the session expired; looking again");
      over = true;
    }
  }
}

void WatchJob::write(std::string_view text) {
  while (!text.empty()) {
    const size_t taken = outlet_->write(text);
    text.remove_prefix(taken);
    if (taken > 0) continue;
    outlet_->want(true);
    session_.turn(kNever);
    outlet_->want(false);
  }
}

// Runs the command; changes that happen meanwhile are read after its end. Returns the command's status if that ends the
// watch, else 0.
int WatchJob::run_command(WatchSubject& subject) {
  loop_.leave_signals();
  host::Launch launch = subject.tell_command();
  std::ranges::move(connection_variables(session_.options()), std::back_inserter(launch.variables));
  guard_->start(launch);
  attend_command();
  if (end_signal_ != 0) throw Failure::by_signal(end_signal_);
  loop_.end_on_signals();
  return judge_end();
}

// Processes that the command leaves running are not ended.
void WatchJob::attend_command() {
  while (guard_->killed() || guard_->phase() < host::CommandPhase::ended) {
    if (guard_->killed() && guard_->gone()) {
      throw Failure(ExitStatus::lost,
                    fmt::format("cannot watch {} any more: the guard was killed; the command was stopped", path_));
    }
    session_.turn(kNever);
    pass_on_signals();
  }
  guard_->let_go();
}

// Signals go to the command first. An ending signal then ends us after the command; a second one ends us at once.
void WatchJob::pass_on_signals() {
  while (const auto arrival = loop_.signals().take()) {
    guard_->forward(arrival->signal);
    if (end_signal_ != 0 && host::is_ending(arrival->signal)) throw Failure::by_signal(arrival->signal);
    if (host::is_ending(arrival->signal)) end_signal_ = arrival->signal;
  }
}

int WatchJob::judge_end() const {
  guard_->check_execution();
  const int status = guard_->wait_status();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  if (halt_) return status_of_command(status);
  say(fmt::format("{} ended {} {}; still watching {}", printable(program_->arguments[0]),
                  WIFEXITED(status) ? "with status" : "by signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), path_));
  return 0;
}

void WatchJob::wait(const WatchSubject& subject) {
  for (Deadline next = subject.due(); left_until(next) > Duration::zero(); next = subject.due()) {
    session_.turn(next);
    if (!session_.expired()) console_.report_connection();
  }
}

}  // namespace zklock::command
