// SPDX-License-Identifier: Apache-2.0
// The command line: which subcommand, its options, and everything that is wrong with them in one line (64).
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

// Parses and runs. Returns the exit status; throws a Failure where that is zklock's own or a signal.
int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy);

// zklock complete-path PREFIX [-- WORD...]: what the shells' completions ask. Prints the paths one level deep that
// begin with PREFIX and may be a lock, a queue, a group or on the way to one, a line each. The words are those before
// the cursor: --servers and --auth-file among them count. Not for people, so no help shows it.
Execute add_complete_path(CLI::App& app, GlobalOptions& global);

// zklock help [COMMAND | TOPIC].
Execute add_help(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
