// SPDX-License-Identifier: Apache-2.0
// The subcommands for locks, run, show and break; what `run` does once its command line is understood (job.cc); and
// what is shown of those who stand at locks (show.cc, show_metrics.cc). What zklock has written on their nodes is taken
// apart; the text of other programs is shown as it is.
#pragma once

#include "command/child/note.h"
#include "command/cli/subcommand.h"
#include "command/lock/run_report.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "recipe/lock/lock.h"
#include "recipe/lock/survey.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

Execute add_run(CLI::App& app, GlobalOptions& global);
Execute add_show(CLI::App& app, GlobalOptions& global);
Execute add_break(CLI::App& app, GlobalOptions& global);

// The session timeout divided by this is the longest grace: more leaves no time to find a third server before SIGTERM.
inline constexpr int kGraceParts = 8;

struct JobOptions {
  std::vector<std::string> paths;  // in byte order, or with `any` as they were named; none twice
  bool any = false;                // the first of them that is free; else all
  recipe::LockType type;
  int64_t slots = 0;  // how many may hold one; 0: it is no lock with slots
  Note note;          // for our nodes
  recipe::WaitPolicy wait;
  std::optional<Duration> grace;  // nothing: a part of the session timeout
  bool wait_all = false;
  Duration min_hold{};
  std::optional<Duration> once_per;
};

// What an attempt has come to, also when it fails.
struct Course {
  bool connected = false;  // once at least
  bool over = false;       // whatever failed, there shall be no other: somebody wanted the end, or the work was done
  Stint stint = {};        // of this attempt, for its report
};

// One command under its locks, from the first connection to the session's end: takes the locks, runs the command, gives
// them back; the command's status. Throws a Failure for all else. Nothing is created in ZooKeeper before. Forks a
// guard: there is no other ZooKeeper handle.
int run_job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
            Course& course);

// A table: a line for each participant, and one for a lock that has none. Nothing without locks. A terminal that is too
// narrow for all of it gets the columns that matter most.
std::string table_of(const std::vector<recipe::Survey>& surveys, const host::Display& display = {});

// An object on a line of its own. Keys of which nothing is known are left out.
std::string json_of(const recipe::Survey& survey);

// The text format that Prometheus and its node exporter read (show_metrics.cc). Moments are by the servers' clock.
std::string prometheus_of(std::vector<recipe::Survey> surveys);

// A table of those whom breaking a lock would hit.
std::string table_of_holders(const std::vector<recipe::Participant>& holders, std::optional<size_t> columns = {});

}  // namespace zklock::command
