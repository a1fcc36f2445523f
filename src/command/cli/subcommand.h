// SPDX-License-Identifier: Apache-2.0
// What a subcommand is to the command line: a function that adds its options, and what is called when they are read.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "host/signals.h"

#include <functional>
#include <optional>

namespace zklock::command {

// How main tells the end, as far as the command line was understood.
struct ExitPolicy {
  bool quiet = false;                      // no line where the status is 75
  int busy_status = 75;                    // what is given instead of 75
  std::optional<int> failure_status = {};  // what is given instead of every status of zklock's own
};

// What a subcommand is called with.
struct Call {
  const CLI::App& app;          // the subcommand, for its name and its operands
  const Arguments& arguments;   // as they were typed
  const GlobalOptions& global;  // from before and behind the subcommand
  const host::Inherited& inherited;
  ExitPolicy& policy;
};

// Returns the exit status; throws a Failure where that is zklock's own or a signal. Owns the values of its options.
using Execute = std::function<int(const Call& call)>;

// Adds the options, usage and footer of a subcommand to `app`, those global options that it has into `global`, which
// outlives the call. Returns nothing where only the subcommands below it do something.
using AddOptions = Execute (*)(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
