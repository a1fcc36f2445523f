// SPDX-License-Identifier: Apache-2.0
#include "command/run.h"

#include "base/text.h"
#include "command/note.h"
#include "zk/path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: the command's; 64 usage, 65 path used for something else,\n"
    "69 no server, 75 busy, 76 lock lost, 77 refused, 126/127 no such command.\n\n"
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all\n"
    "  zklock run -nqE0 /locks/minutely -- job      # crontab: skip silently if busy\n\n"
    "Manual: zklock(1)";

}  // namespace

Run::Run(CLI::App& root) : app_(root.add_subcommand("run", "Run a command under a lock")) {
  app_->allow_extras();
  set_usage(*app_, "Usage: zklock run [OPTIONS] LOCK -- COMMAND [ARG...]\n       zklock run [OPTIONS] -c STRING LOCK");
  app_->add_option("LOCK", path_, "Path of the lock, like /locks/job")->group("");
  app_->add_flag("-n,--nonblock", nonblock_, "Do not wait: 75 if the lock is busy");
  shared_ = app_->add_flag("-s,--shared", given_, "Together with other shared holders");
  exclusive_ = app_->add_flag("-x,--exclusive", given_, "Alone (the default)");
  add_value(*app_, "--peer", peer_, "Lock in the names of: curator-rw, kazoo", "NAME");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long, connecting included", "DUR");
  add_value(*app_, "-E,--conflict-exit-code", conflict_status_, "Exit with N instead of 75", "N");
  add_value(*app_, "-c,--command", shell_command_, "Run STRING with /bin/sh -c", "STRING");
  add_value(*app_, "--grace", grace_, "From SIGTERM to SIGKILL when the lock is lost", "DUR");
  app_->add_flag("--wait-all", wait_all_, "Hold the lock for what the command leaves behind");
  add_value(*app_, "--label", label_, "What others read about this holder", "TEXT");
  add_global_options(*app_, global_);
  app_->footer(kFooter);
}

int Run::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                 Manner& manner) const {
  // CLI11 takes "-5" for a number and so for a path.
  if (path_ && path_->starts_with('-')) throw unknown_word(*app_, *path_);
  check_rest(*app_, arguments);
  manner.busy_status = busy_status();
  if (!path_) throw usage_error("no lock named: write zklock run /locks/job -- COMMAND");
  zk::check_path(*path_);
  const std::string label = label_.value_or("");
  if (!is_utf8(label)) throw usage_error("bad --label: it is not UTF-8");
  const Patience patience = this->patience();
  const zk::SessionOptions session = session_options(global);
  host::Program program = host::Program::find(command_of(arguments));
  JobOptions job{*path_,   lock_type(), to_json(own_note(zk::name_of(program.arguments[0]), label)),
                 patience, grace(),     wait_all_};
  return Job(std::move(program), inherited, session, std::move(job)).run();
}

std::vector<std::string> Run::command_of(const Arguments& arguments) const {
  if (shell_command_ && arguments.separated) throw usage_error("give either -c STRING or -- COMMAND, not both");
  if (shell_command_) return {"/bin/sh", "-c", *shell_command_};
  if (arguments.command.empty()) {
    throw usage_error(fmt::format("no command: write zklock run {} -- COMMAND", printable(*path_)));
  }
  return arguments.command;
}

int Run::busy_status() const {
  if (!conflict_status_) return static_cast<int>(ExitStatus::busy);
  const auto status = parse_number(*conflict_status_);
  if (status && *status <= 255) return static_cast<int>(*status);
  throw usage_error(fmt::format("bad status '{}' for --conflict-exit-code: write a number from 0 to 255",
                                printable(*conflict_status_)));
}

Patience Run::patience() const {
  if (!timeout_) return {!nonblock_, kNever};
  const Duration span = duration_of(*timeout_, "--timeout");
  // -w 0 is -n. It leaves the time to connect and to look, or nothing could ever be had.
  if (span == Duration::zero()) return {false, kNever};
  return {!nonblock_, deadline_in(span)};
}

recipe::LockType Run::lock_type() const {
  const std::string peer = peer_.value_or("standard");
  recipe::LockType type;
  // As in flock, the last of -s and -x counts.
  for (const CLI::Option* option : app_->parse_order()) {
    if (option == shared_) type.kind = recipe::Kind::shared;
    if (option == exclusive_) type.kind = recipe::Kind::exclusive;
  }
  for (const auto family : {recipe::Family::standard, recipe::Family::curator_rw, recipe::Family::kazoo}) {
    type.family = family;
    if (peer == recipe::peer_name(family)) return type;
  }
  throw usage_error(fmt::format("bad value '{}' for --peer: write curator-rw or kazoo", printable(peer)));
}

std::optional<Duration> Run::grace() const {
  if (!grace_) return std::nullopt;
  return duration_of(*grace_, "--grace");
}

}  // namespace zklock::command
