// SPDX-License-Identifier: Apache-2.0
// zklock run --report: writes one JSON object on a line for each attempt to run a command under its locks, however it
// ends. A bad command line (64) and a zklock that is killed (KILL) leave no line.
#pragma once

#include "base/time.h"
#include "command/cli/subcommand.h"
#include "host/appended_file.h"
#include "recipe/lock/protected_node.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The results of an attempt so far. They are filled in step by step, so that all of them are there whatever is thrown.
struct Stint {
  std::vector<std::string> paths = {};  // from the grant on; with --any only the one that was taken
  std::vector<int64_t> tokens = {};
  Deadline granted = kNever;  // kNever, here and below: not yet, or never
  Deadline released = kNever;
  bool skipped = false;  // because of --once-per
  int wait_status = 0;   // of a command that ended by itself

  void grant(const std::vector<recipe::Held>& held);
};

class RunReport {
 public:
  struct Subject {
    std::vector<std::string> paths;  // of the locks that are wanted
    std::string command;             // as in its note
    std::string label;
  };

  // Opens `file`; without one, nothing is ever written. `policy` gives the status that zklock will end with, and must
  // outlive this. Throws a Failure (64) if `file` cannot be opened.
  RunReport(const std::optional<std::string>& file, Subject subject, const ExitPolicy& policy);

  // Calls `attempt`, which fills in `stint`, and writes its line. Returns or throws what `attempt` does. If the line
  // cannot be written, reports that on standard error; nothing else changes.
  int around(Stint& stint, const std::function<int()>& attempt);

 private:
  struct End {
    int status;
    const char* how;
    int signal = 0;
  };

  End end_of(const Failure& failure, const Stint& stint) const;
  void write(const Stint& stint, const End& end);
  std::string line_of(const Stint& stint, const End& end) const;

  std::optional<host::AppendedFile> file_;
  std::string name_;  // of the file
  Subject subject_;
  const ExitPolicy& policy_;
  std::string started_;  // the wall clock, UTC
  Deadline began_{};
};

}  // namespace zklock::command
