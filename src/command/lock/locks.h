// SPDX-License-Identifier: Apache-2.0
// The subcommands for locks: run, show and break. job.cc does the work of `run` once its command line is understood.
// show.cc and show_metrics.cc make the text about contenders. They take apart what zklock wrote on the nodes, and show
// the text of other programs as it is.
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

// The longest grace is the session timeout divided by this. More would leave no time to find a third server before
// SIGTERM.
inline constexpr int kGraceParts = 8;

struct JobOptions {
  std::vector<std::string> paths;  // in byte order, or with `any` in the order given; no duplicates
  bool any = false;                // take the first of them that is free; else all
  recipe::LockType type;
  int64_t slots = 0;  // how many may hold each; 0: locks without slots
  Note note;          // for our nodes
  recipe::WaitPolicy wait;
  bool again = false;             // an earlier attempt may have left its node, which goes with its session
  std::optional<Duration> grace;  // nothing: a part of the session timeout
  bool wait_all = false;
  Duration min_hold{};
  std::optional<Duration> once_per;
};

// How far an attempt has come, also if it fails.
struct Course {
  bool connected = false;  // at least once
  bool over = false;       // make no further attempt: a signal asked for the end, or the work was done
  Stint stint = {};        // of this attempt, for its report
};

// Runs one command under its locks, from the first connection to the session's end: takes the locks, runs the command,
// gives the locks back. Returns the command's status. Forks a guard, so there must be no other ZooKeeper handle.
// Creates nothing in ZooKeeper before it asks for the locks. Throws a Failure for everything else.
int run_job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
            Course& course);

// Returns a table with a line for each contender and each bystander, and one for a lock that has none; "" without
// surveys. A terminal that is too narrow for all columns gets the most important ones.
std::string table_of(const std::vector<recipe::Survey>& surveys, const host::Display& display = {});

// Returns a JSON object on a line of its own. Members whose value is unknown are left out.
std::string json_of(const recipe::Survey& survey);

// Returns the text format that Prometheus and its node exporter read (show_metrics.cc). Timestamps are by the servers'
// clock.
std::string prometheus_of(std::vector<recipe::Survey> surveys);

// Returns a table of the nodes that breaking a lock would affect; it fits `columns`, if given.
std::string table_of_holders(const std::vector<recipe::Participant>& holders, std::optional<size_t> columns = {});

}  // namespace zklock::command
