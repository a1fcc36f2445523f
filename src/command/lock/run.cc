// SPDX-License-Identifier: Apache-2.0
#include "command/lock/run.h"

#include "base/text.h"
#include "command/child/note.h"
#include "command/lock/restart.h"
#include "zk/path.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all\n"
    "  zklock run -nqE0 /locks/minutely -- job      # crontab: skip silently if busy\n"
    "Manual: zklock-run(1)";

constexpr int64_t kMostSlots = 10'000;  // their leases are listed whole

}  // namespace

Run::Run(CLI::App& root) : app_(add_command(root, "run", "Run a command under a lock")) {
  set_usage(*app_, "Usage: zklock run [OPTIONS] LOCK... (-- COMMAND [ARG...] | -c STRING)");
  add_lock_options();
  add_command_options();
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

void Run::add_lock_options() {
  add_flag(*app_, "-n,--nonblock", nonblock_, "Do not wait: 75 if the lock is busy");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long, connecting included", "DUR");
  add_value(*app_, "-E,--conflict-exit-code", conflict_status_, "Exit with N instead of 75", "N");
  shared_ = app_->add_flag("-s,--shared", given_, "Together with other shared holders");
  exclusive_ = app_->add_flag("-x,--exclusive", given_, "Alone (the default)");
  add_value(*app_, "--slots", slots_, "Together with N - 1 others", "N");
  add_value(*app_, "--peer", peer_, "Names of: curator-rw, kazoo, kazoo-extra", "NAME");
  add_value(*app_, "--label", label_, "What others read about this holder", "TEXT");
}

void Run::add_command_options() {
  add_value(*app_, "-c,--command", shell_command_, "Run STRING with /bin/sh -c", "STRING");
  add_value(*app_, "--grace", grace_, "From SIGTERM to SIGKILL when the lock is lost", "DUR");
  add_flag(*app_, "--wait-all", wait_all_, "Hold the lock for what the command leaves behind");
  add_value(*app_, "--min-hold", min_hold_, "Hold the lock at least so long", "DUR");
  add_value(*app_, "--once-per", once_per_, "75 if one succeeded less than DUR ago", "DUR");
  add_flag(*app_, "--restart", restart_, "After a loss take the lock and run again");
}

int Run::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                 ExitPolicy& policy) const {
  policy.busy_status = busy_status();
  const JobOptions job = job_options(arguments);
  const zk::SessionOptions session = session_options(global);
  const host::Program program = host::Program::find(command_of(arguments, job.paths.front()));
  const auto run_job = [&](Course& course) {
    JobOptions fresh = job;
    fresh.note = own_note(zk::name_of(program.arguments[0]), label_.value_or(""));
    fresh.patience = patience();
    return Job(program, inherited, session, std::move(fresh), course).run();
  };
  Course course;
  return restart_ ? restart_after_loss(run_job) : run_job(course);
}

JobOptions Run::job_options(const Arguments& arguments) const {
  const auto duration = [](const Value& value, const char* option) {
    return value ? std::optional(duration_of(*value, option)) : std::nullopt;
  };
  JobOptions job;
  job.paths = paths(arguments);
  job.type = lock_type();
  job.slots = slots();
  job.grace = grace();
  job.wait_all = wait_all_;
  job.min_hold = duration(min_hold_, "--min-hold").value_or(Duration::zero());
  job.once_per = duration(once_per_, "--once-per");
  check_job(job);
  return job;
}

std::optional<Duration> Run::grace() const {
  if (!grace_) return std::nullopt;
  constexpr Duration kLongest = kLongestSessionTimeout / kGraceParts;
  const Duration span = duration_of(*grace_, "--grace");
  if (span <= kLongest) return span;
  throw usage_error(fmt::format("--grace {} is more than an eighth of any session timeout: write at most {}h", *grace_,
                                kLongest / std::chrono::hours(1)));
}

void Run::check_job(const JobOptions& job) const {
  if (!is_utf8(label_.value_or("")))
    throw usage_error(fmt::format("bad value '{}' for --label: it is not UTF-8", printable(*label_)));
  const bool shared = job.type.kind == recipe::Kind::shared;
  if (job.slots > 0 && (shared || peer_)) {
    throw usage_error(fmt::format("give either --slots or {}, not both", shared ? "--shared" : "--peer"));
  }
  if (!job.once_per) return;
  if (*job.once_per == Duration::zero()) throw usage_error("--once-per 0 would never skip: leave it out");
  if (job.slots > 0 || shared) {
    throw usage_error(
        fmt::format("--once-per needs a lock that one holds at a time: leave out {}", shared ? "--shared" : "--slots"));
  }
  if (job.min_hold >= *job.once_per) {
    throw usage_error(
        fmt::format("--min-hold {} leaves no time before the next run is due: it must be shorter than "
                    "--once-per {}",
                    *min_hold_, *once_per_));
  }
}

// In byte order: whoever takes several takes them in this one, so that nobody waits for who waits for him.
std::vector<std::string> Run::paths(const Arguments& arguments) const {
  std::vector<std::string> paths = app_->remaining();
  for (const std::string& path : paths) {
    if (path.starts_with('-')) throw unknown_word(*app_, path);
    if (&path != &paths.front() && !path.starts_with('/')) throw unexpected_word(path, arguments);
    zk::check_path(path);
  }
  if (paths.empty()) throw usage_error("no lock named: write zklock run /locks/job -- COMMAND");
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<std::string> Run::command_of(const Arguments& arguments, const std::string& path) const {
  if (shell_command_ && arguments.separated) throw usage_error("give either -c STRING or -- COMMAND, not both");
  if (shell_command_) return {"/bin/sh", "-c", *shell_command_};
  if (arguments.command.empty()) {
    throw usage_error(fmt::format("no command: write zklock run {} -- COMMAND", printable(path)));
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

recipe::Patience Run::patience() const {
  if (!timeout_) return {!nonblock_, kNever};
  const Duration span = duration_of(*timeout_, "--timeout");
  // -w 0 is -n. It leaves the time to connect and to look, or nothing could ever be had.
  if (span == Duration::zero()) return {false, kNever};
  return {!nonblock_, deadline_in(span)};
}

recipe::LockType Run::lock_type() const {
  recipe::LockType type;
  // As in flock, the last of -s and -x counts.
  for (const CLI::Option* option : app_->parse_order()) {
    if (option == shared_) type.kind = recipe::Kind::shared;
    if (option == exclusive_) type.kind = recipe::Kind::exclusive;
  }
  const std::string peer = peer_.value_or("standard");
  type.with_kazoo = peer == "kazoo-extra";
  if (type.with_kazoo) return type;
  for (const auto family : {recipe::Family::standard, recipe::Family::curator_rw, recipe::Family::kazoo}) {
    type.family = family;
    if (peer == recipe::peer_name(family)) return type;
  }
  throw usage_error(fmt::format("bad value '{}' for --peer: write curator-rw, kazoo or kazoo-extra", printable(peer)));
}

int64_t Run::slots() const {
  return slots_ ? number_of(*slots_, "--slots", 1, kMostSlots) : 0;
}

}  // namespace zklock::command
