// SPDX-License-Identifier: Apache-2.0
// The subcommands for locks: run, show and break. job.cc does the work of `run` once its command line is understood.
// show.cc makes the text about contenders, and follow.cc that about each change. They take apart what zklock wrote on
// the nodes, and show the text of other programs as it is.
#pragma once

#include "command/child/console.h"
#include "command/child/note.h"
#include "command/cli/subcommand.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "host/streams.h"
#include "host/terminal.h"
#include "recipe/lock/lock.h"
#include "recipe/lock/survey.h"

#include <cstdint>
#include <functional>
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

// How far an attempt has come. It is filled in step by step, so that all of it is there whatever is thrown.
struct Course {
  bool connected = false;  // at least once, in this attempt or an earlier one
  bool over = false;       // make no further attempt: a signal asked for the end, or the work was done
  // For the report on this attempt:
  std::vector<std::string> paths = {};  // from the grant on; with --any only the one that was taken
  std::vector<int64_t> tokens = {};
  Deadline granted = kNever;  // kNever, here and below: not yet, or never
  Deadline released = kNever;
  bool skipped = false;  // because of --once-per
  int wait_status = 0;   // of a command that ended by itself
};

// Runs one command under its locks, from the first connection to the session's end: takes the locks, runs the command,
// gives the locks back. Returns the command's status. Forks a guard, so there must be no other ZooKeeper handle.
// Creates nothing in ZooKeeper before it asks for the locks. Throws a Failure for everything else.
int run_job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
            Course& course);

// Reports while a command waits for its lock. At a terminal this is, after a second, one line that is kept up to date
// and wiped at the end. Elsewhere it is one line, only with --verbose. The service manager always learns what we wait
// for, or which contender we stand behind.
class WaitReport : public recipe::WaitObserver {
 public:
  // `names`: the locks that are waited for; with `any`, one of them will do.
  WaitReport(const Console& console, std::string names, bool any);

  Deadline next_look() const override { return next_look_; }
  void on_holder(const recipe::Holder& holder) override;
  bool on_predecessor(const std::string& data) override;
  void on_start_again(bool expired) override;

  // Wipes the line. If `held`, reports with --verbose that `names` were taken and how long that took.
  void end(const std::string& names, bool held);

 private:
  void tell_manager(const std::string& text);

  const Console& console_;
  std::string names_;
  bool any_;
  bool watched_ = host::is_watched();
  Deadline began_ = BootClock::now();
  Deadline next_look_ = kNever;
  host::StatusLine status_;
  std::string told_;  // the last text for the service manager
};

// zklock run --report: writes one JSON object on a line for each attempt to run a command under its locks, however it
// ends. A bad command line (64) and a zklock that is killed (KILL) leave no line.
class RunReport {
 public:
  // Opens `file`; without one, nothing is ever written. `paths` are the locks that are wanted, `command` and `label` as
  // in the note. `policy` gives the status that zklock will end with, and must outlive this. Throws a Failure (64) if
  // `file` cannot be opened.
  RunReport(const std::optional<std::string>& file, std::vector<std::string> paths, std::string command,
            std::string label, const ExitPolicy& policy);

  // Calls `attempt`, which fills in `course`, and writes its line. Returns or throws what `attempt` does. If the line
  // cannot be written, reports that on standard error; nothing else changes.
  int around(Course& course, const std::function<int()>& attempt);

 private:
  void write(const Course& course, int status, const char* how, int signal);

  std::optional<host::AppendedFile> file_;
  std::string name_;  // of the file
  std::vector<std::string> paths_;
  std::string command_;
  std::string label_;
  const ExitPolicy& policy_;
  std::string started_;  // the wall clock, UTC
  Deadline began_{};
};

// zklock show --follow: prints the contenders that are there, and then each change. A slow reader gets the latest state
// when it is ready, and never holds up the session. Only a Failure ends it: by SIGPIPE if the reader has gone, by
// another signal, 65 if a path is no lock, 69 if no server answers at the start, 74, 77.
int follow_locks(const Call& call, const std::vector<std::string>& paths, bool json);

// Returns a table with a line for each contender and each bystander, and one for a lock that has none; "" without
// surveys. A terminal that is too narrow for all columns gets the most important ones.
std::string table_of(const std::vector<recipe::Survey>& surveys, const host::Display& display = {});

// Returns a JSON object on a line of its own. Members whose value is unknown are left out.
std::string json_of(const recipe::Survey& survey);

// Returns the text format that Prometheus and its node exporter read. Timestamps are by the servers' clock.
std::string prometheus_of(std::vector<recipe::Survey> surveys);

// Returns a table of the nodes that breaking a lock would affect; it fits `columns`, if given.
std::string table_of_holders(const std::vector<recipe::Participant>& holders, std::optional<size_t> columns = {});

}  // namespace zklock::command
