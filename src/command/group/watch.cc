// SPDX-License-Identifier: Apache-2.0
// zklock group watch: tells who comes to a group and who goes, for ever: in lines on standard output, or to a command
// that is run for each change with the whole list. A reader or a command that is slow gets the difference when it is
// ready; it never holds up the session.
#include "base/text.h"
#include "command/child/console.h"
#include "command/group/group.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "host/streams.h"
#include "recipe/group/group.h"

#include <memory>
#include <sys/wait.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using recipe::GroupRoster;
using recipe::GroupState;

constexpr const char* kFooter =
    "A line for each change: +NAME has joined, -NAME has left; at first who is in.\n\n"
    "Exit status: 64 usage, 65 the path is used for something else, 69 no server at\n"
    "the start, 74 output failed, 77 refused, 126/127 no such command.\n\n"
    "Examples:\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n"
    "  zklock group watch /groups/web -- update-backends   # reads the whole list\n"
    "Manual: zklock-group(1)";

class WatchJob {
 public:
  // Forks the guard, if there is a command: before there is a ZooKeeper handle.
  WatchJob(const Call& call, bool json)
      : path_(group_before_command(call)),
        form_(json ? GroupForm::json : GroupForm::names),
        program_(program_of(call)),
        asked_(session_options(call.global)),
        session_(loop_, std::move(asked_)),
        roster_(session_, path_, json) {
    if (program_) {
      guard_ = std::make_unique<host::Guard>(host::Service::again, *program_, call.inherited);
      attached_.emplace(loop_, *guard_);
    } else {
      outlet_.emplace();
      attached_.emplace(loop_, *outlet_);
    }
  }

  // Ends by a Failure: by SIGPIPE when nobody reads any more, by a signal, 65 where the path is used for something
  // else, 69 when no server answers at the start, 74, 76 when the guard was killed, 77.
  [[noreturn]] void run() {
    const std::string tried = "cannot watch " + path_;
    session_.set_purpose(tried);
    try {
      do {
        session_.open(kNever);
      } while (recipe::look_at_group(session_, path_, tried, kNever) == GroupState::expired);
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

 private:
  void look() {
    // The whole list shall say what is so now; a line is about one that is new.
    if (guard_ && form_ == GroupForm::json) roster_.forget();
    while (roster_.look(kNever) == GroupState::expired) {
      console_.detail("the session expired; looking again");
      session_.open(kNever);
    }
    session_.set_enduring(true);
  }

  void write_changes() {
    std::string text;
    for (const recipe::MemberChange& change : recipe::changes_between(told_, roster_.members())) {
      text += text_of(path_, change, roster_.members(), form_);
    }
    told_ = roster_.members();
    write(text);
  }

  void write(std::string_view text) {
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
  void run_command() {
    const bool changed = !recipe::changes_between(told_, roster_.members()).empty();
    if (!changed && !first_) return;
    first_ = false;
    told_ = roster_.members();
    loop_.remove(end_on_signal_);
    std::vector<std::string> variables = connection_variables(session_.options());
    variables.push_back("ZKLOCK_PATH=" + path_);
    guard_->start({variables, {}, text_of(path_, told_, form_)});
    attend_command();
    if (end_signal_ != 0) throw Failure::by_signal(end_signal_);
    report_end();
    loop_.add(end_on_signal_);
  }

  // What it leaves behind runs on.
  void attend_command() {
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

  // The command's, and then ours. With the second one that shall end us we do not wait any longer.
  void pass_on_signals() {
    while (const auto arrival = signals_.take()) {
      guard_->forward(arrival->signal);
      if (end_signal_ != 0 && host::is_ending(arrival->signal)) throw Failure::by_signal(arrival->signal);
      if (host::is_ending(arrival->signal)) end_signal_ = arrival->signal;
    }
  }

  void report_end() const {
    guard_->check_execution();
    const int status = guard_->wait_status();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    say(fmt::format("{} ended {} {}; still watching {}", printable(program_->arguments[0]),
                    WIFEXITED(status) ? "with status" : "by signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), path_));
  }

  void wait() {
    while (!roster_.is_stale()) {
      session_.turn(kNever);
      if (!session_.expired()) console_.report_connection();
    }
  }

  std::string path_;
  GroupForm form_;
  std::optional<host::Program> program_;
  zk::SessionOptions asked_;  // read before signals are blocked: the credentials may be in a pipe
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  zk::Session session_;
  Console console_{session_};
  GroupRoster roster_;
  recipe::Members told_;  // what was told last
  std::optional<host::StandardOutput> outlet_;
  std::unique_ptr<host::Guard> guard_;
  std::optional<host::Attached> attached_;  // the one of these two that there is
  bool first_ = true;
  int end_signal_ = 0;  // that shall end us, once the command has ended
};

}  // namespace

Execute add_group_watch(CLI::App& app, GlobalOptions& global) {
  const auto json = std::make_shared<bool>(false);
  set_usage(app, "Usage: zklock group watch [OPTIONS] GROUP [-- COMMAND [ARG...]]");
  add_flag(app, "--json", *json, "An object a line");
  add_global_options(app, global);
  set_footer(app, kFooter);
  return [json](const Call& call) -> int { WatchJob(call, *json).run(); };
}

}  // namespace zklock::command
