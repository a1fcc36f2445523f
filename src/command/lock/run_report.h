// SPDX-License-Identifier: Apache-2.0
// zklock run --report: one JSON object on a line for each run of a command under its locks, and each attempt at one,
// whatever it ends with. Nothing for mistakes in the command line (64), and by a zklock that is killed (KILL).
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

// How far an attempt has come. Filled in as it goes on, so that all of it is there whatever is thrown.
struct Stint {
  std::vector<std::string> paths = {};  // from the grant on; with --any of the one that was taken
  std::vector<int64_t> tokens = {};
  Deadline granted = kNever;  // kNever: it was not, or it is not over
  Deadline released = kNever;
  bool skipped = false;  // by --once-per
  int wait_status = 0;   // of a command that has come to its own end

  void grant(const std::vector<recipe::Held>& held);
};

class RunReport {
 public:
  struct Subject {
    std::vector<std::string> paths;  // of the locks that are asked for
    std::string command;             // as in its note
    std::string label;
  };

  // Opens `file`; without one nothing is ever written. Throws a Failure (64) if that cannot be. `policy` knows the
  // status that zklock will end with, and outlives this.
  RunReport(const std::optional<std::string>& file, Subject subject, const ExitPolicy& policy);

  // Calls `attempt`, which fills in `stint`, and writes its line. What it returns or throws comes back. A line that
  // cannot be written is told on standard error and changes nothing.
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
