// SPDX-License-Identifier: Apache-2.0
// The command line: which subcommand, its options, and everything that is wrong with them in one line (64).
#pragma once

#include "host/signals.h"

#include <optional>

namespace zklock::command {

// How main tells the end, as far as the command line was understood.
struct Manner {
  bool quiet = false;                      // no line where the status is 75
  int busy_status = 75;                    // what is given instead of 75
  std::optional<int> failure_status = {};  // what is given instead of every status of zklock's own
};

// Parses and runs. Returns the exit status; throws a Failure where that is zklock's own or a signal.
int run_command_line(int argc, char** argv, const host::Inherited& inherited, Manner& manner);

}  // namespace zklock::command
