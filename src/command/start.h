// SPDX-License-Identifier: Apache-2.0
// Runs the command line: starts its subcommand, and reports in one line (64) what is wrong with the words.
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

// Parses the command line, runs the subcommand that it names, and returns the exit status. Fills in `policy` as far as
// the command line is understood. Throws a Failure to end zklock with a message and a status of its own, or by a
// signal.
int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy);

}  // namespace zklock::command
