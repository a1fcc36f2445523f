// SPDX-License-Identifier: Apache-2.0
// zklock run: its options, what can be wrong with them, and --restart: a service that goes on after a loss. If two
// hosts have it, one runs and the other stands by.
#include "base/text.h"
#include "command/lock/locks.h"
#include "host/notify.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "zk/path.h"

#include <algorithm>
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kRunFooter =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all\n"
    "  zklock run -nqE0 /locks/minutely -- job      # crontab: skip silently if busy\n\n"
    "Manual: zklock-run(1)";

constexpr int64_t kMostSlots = 10'000;  // all of them are listed at once

constexpr const char* kPeerNames[] = {"standard", "curator-rw", "kazoo", "kazoo-extra"};  // the order of recipe::Family
constexpr size_t kKazooExtra = 3;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;  // after an attempt that lasted longer, the first pause follows again

struct RunOptions {
  bool any = false;
  bool nonblock = false;
  CLI::Option* shared = nullptr;  // the parser knows which of these two was given last
  CLI::Option* exclusive = nullptr;
  bool given = false;
  Value peer;
  Value timeout;
  Value conflict_status;
  Value shell_command;
  Value label;
  Value grace;
  Value slots;
  Value min_hold;
  Value once_per;
  bool wait_all = false;
  bool restart = false;
  Value report;
};

// Returns the locks, without `any` in byte order. Every run takes its locks in this order, so two runs cannot deadlock.
std::vector<std::string> paths_of(const Call& call, bool any) {
  std::vector<std::string> paths = words_of(call.app);
  for (const std::string& path : paths) {
    if (path.starts_with('-')) throw unknown_word(call.app, path);
    if (&path != &paths.front() && !path.starts_with('/')) throw unexpected_word(path, call.arguments);
    zk::check_path(path);
  }
  if (paths.empty()) throw usage_error("no lock named: write zklock run /locks/job -- COMMAND");
  std::vector<std::string> sorted = paths;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (any && twice != sorted.end()) throw usage_error(fmt::format("with --any, {} is named twice", printable(*twice)));
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return any ? paths : sorted;
}

std::vector<std::string> command_of(const Arguments& arguments, const RunOptions& options, const std::string& path) {
  if (options.shell_command && arguments.separated) throw usage_error("give either -c STRING or -- COMMAND, not both");
  if (options.shell_command) return {"/bin/sh", "-c", *options.shell_command};
  if (arguments.command.empty()) {
    throw usage_error(fmt::format("no command: write zklock run {} -- COMMAND", printable(path)));
  }
  return arguments.command;
}

int busy_status_of(const RunOptions& options) {
  if (!options.conflict_status) return static_cast<int>(ExitStatus::busy);
  const auto status = parse_number(*options.conflict_status);
  if (status && *status <= 255) return static_cast<int>(*status);
  throw usage_error(fmt::format("bad status '{}' for --conflict-exit-code: write a number from 0 to 255",
                                printable(*options.conflict_status)));
}

recipe::WaitPolicy wait_policy_of(const RunOptions& options) {
  if (!options.timeout) return {!options.nonblock, kNever};
  const Duration span = duration_of(*options.timeout, "--timeout");
  // -w 0 is -n. It does not limit the time to connect and to look once, or no lock could ever be had.
  if (span == Duration::zero()) return {false, kNever};
  return {!options.nonblock, deadline_in(span)};
}

recipe::LockType lock_type_of(const CLI::App& app, const RunOptions& options) {
  recipe::LockType type;
  // As in flock, the last of -s and -x counts.
  for (const CLI::Option* option : app.parse_order()) {
    if (option == options.shared) type.mode = recipe::LockMode::shared;
    if (option == options.exclusive) type.mode = recipe::LockMode::exclusive;
  }
  const size_t peer = choice_of(options.peer, "--peer", kPeerNames);
  type.with_kazoo = peer == kKazooExtra;
  if (!type.with_kazoo) type.family = static_cast<recipe::Family>(peer);
  return type;
}

std::optional<Duration> grace_of(const RunOptions& options) {
  if (!options.grace) return std::nullopt;
  constexpr Duration kLongest = kLongestSessionTimeout / kGraceParts;
  const Duration span = duration_of(*options.grace, "--grace");
  if (span <= kLongest) return span;
  throw usage_error(fmt::format("--grace {} is more than an eighth of any session timeout: write at most {}h",
                                *options.grace, kLongest / std::chrono::hours(1)));
}

void check_job(const JobOptions& job, const RunOptions& options) {
  const bool shared = job.type.mode == recipe::LockMode::shared;
  if (job.slots > 0 && (shared || options.peer)) {
    throw usage_error(fmt::format("give either --slots or {}, not both", shared ? "--shared" : "--peer"));
  }
  if (job.any && (job.slots > 0 || job.once_per)) {
    throw usage_error(fmt::format("give either --any or {}, not both", job.slots > 0 ? "--slots" : "--once-per"));
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
                    *options.min_hold, *options.once_per));
  }
}

// A label in another encoding must not keep the command from running.
std::string label_in(const RunOptions& options) {
  const std::string label = options.label.value_or("");
  return is_utf8(label) ? label : printable(label);
}

JobOptions job_options(const Call& call, const RunOptions& options) {
  JobOptions job;
  job.any = options.any;
  job.paths = paths_of(call, job.any);
  job.type = lock_type_of(call.app, options);
  job.slots = options.slots ? number_of(*options.slots, "--slots", 1, kMostSlots) : 0;
  job.grace = grace_of(options);
  job.wait_all = options.wait_all;
  if (options.min_hold) job.min_hold = duration_of(*options.min_hold, "--min-hold");
  if (options.once_per) job.once_per = duration_of(*options.once_per, "--once-per");
  check_job(job, options);
  return job;
}

void pause(Duration span) {
  host::SignalLoop loop;
  const Deadline until = deadline_in(span);
  while (left_until(until) > Duration::zero()) loop.turn(until);
}

bool is_worth_another(const Failure& failure, const Course& course) {
  if (failure.signal() != 0 || course.over) return false;
  return failure.status() == ExitStatus::lost || (failure.status() == ExitStatus::unavailable && course.connected);
}

// Calls `attempt` again, after a growing pause, if it fails with 76. Once an attempt was connected, does so also if no
// server answers any more (69), because a standby must outlast an outage too. Reports each new attempt in one line. Any
// other end is returned or thrown. The pause is part of the attempt after it, which may end in the pause.
int restart_after_loss(const std::function<int(Course&, Duration pause)>& attempt) {
  Duration span{};
  for (Course course;;) {
    const Deadline began = BootClock::now();
    try {
      return attempt(course, span);
    } catch (const Failure& failure) {
      if (!is_worth_another(failure, course)) throw;
      const bool afresh = span == Duration::zero() || BootClock::now() - began > span + kLongestPause;
      span = afresh ? kFirstPause : std::min(2 * span, kLongestPause);
      const std::string text = fmt::format("{}; trying again in {}", failure.text(), format_duration(span));
      host::say_error(text);
      host::notify_status(text);
    }
  }
}

int run(const Call& call, const RunOptions& options) {
  call.policy.busy_status = busy_status_of(options);
  const JobOptions job = job_options(call, options);
  const zk::SessionOptions session = session_options(call.global);
  const std::vector<std::string> words = command_of(call.arguments, options, job.paths.front());
  const std::string label = label_in(options);
  RunReport report(options.report, job.paths, zk::name_of(words[0]), label, call.policy);
  const auto attempt = [&](Course& course, Duration pause_before) {
    return report.around(course, [&] {
      const host::Program program = host::Program::find(words);
      if (pause_before > Duration::zero()) pause(pause_before);
      JobOptions fresh = job;
      fresh.note = own_note(zk::name_of(words[0]), label);
      fresh.wait = wait_policy_of(options);
      fresh.again = pause_before > Duration::zero();
      return run_job(program, call.inherited, session, std::move(fresh), course);
    });
  };
  Course course;
  return options.restart ? restart_after_loss(attempt) : attempt(course, Duration::zero());
}

void add_lock_options(CLI::App& app, RunOptions& options) {
  add_flag(app, "--any", options.any, "Take only one LOCK, the first that is free");
  add_flag(app, "-n,--nonblock", options.nonblock, "Do not wait: exit 75 if the lock is busy");
  add_value(app, "-w,--timeout", options.timeout, "Wait at most DUR, connecting included, then 75", "DUR");
  add_value(app, "-E,--conflict-exit-code", options.conflict_status, "Exit with N instead of 75", "N");
  options.shared = app.add_flag("-s,--shared", options.given, "Share the lock with other -s holders");
  options.exclusive = app.add_flag("-x,--exclusive", options.given, "Hold the lock alone (the default)");
  add_value(app, "--slots", options.slots, "Let up to N hold the lock at once", "N");
  add_choice(app, "--peer", options.peer, "Stand in line with curator-rw, kazoo, kazoo-extra", "NAME", kPeerNames);
  add_value(app, "--label", options.label, "Text that zklock show has for this holder", "TEXT");
}

void add_command_options(CLI::App& app, RunOptions& options) {
  add_value(app, "-c,--command", options.shell_command, "Run STRING with /bin/sh -c", "STRING");
  add_value(app, "--grace", options.grace, "From SIGTERM to SIGKILL if the lock is lost", "DUR");
  add_flag(app, "--wait-all", options.wait_all, "Wait for what the command left running, too");
  add_value(app, "--min-hold", options.min_hold, "Hold the lock for at least DUR", "DUR");
  add_value(app, "--once-per", options.once_per, "Exit 75 if it has succeeded in the last DUR", "DUR");
  add_flag(app, "--restart", options.restart, "If the lock is lost, take it again and rerun");
  add_value(app, "--report", options.report, "Append a JSON line on how it ended (-: stdout)", kFile);
}

}  // namespace

Execute add_run(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<RunOptions>();
  add_lock_options(app, *options);
  add_command_options(app, *options);
  finish(app, global, "Usage: zklock run [OPTIONS] LOCK... (-- COMMAND [ARG...] | -c STRING)", kRunFooter);
  return execute_with(run, options);
}

}  // namespace zklock::command
