// SPDX-License-Identifier: Apache-2.0
// The command line: finds the subcommand, reads its options, and reports whatever is wrong with them in one line (64).
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

// Parses the command line, runs the subcommand that it names, and returns the exit status. Fills in `policy` as far as
// the command line is understood. Throws a Failure to end zklock with a message and a status of its own, or by a
// signal.
int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy);

// Returns the global options of a command line that begins with these words, wherever they stand in it. The last word
// may be an option whose value is missing. Throws a Failure (64) if they cannot be parsed.
GlobalOptions global_options_in(std::vector<std::string> words);

// Adds zklock complete-path PREFIX [-- WORD...], which answers the shells' completions. It prints, one a line, the
// paths one level deep that begin with PREFIX. Each may be a lock, a queue or a group, or lead to one. The words are
// those before the cursor; their options for servers, credentials and TLS count. It is not for people, so no help shows
// it.
Execute add_complete_path(CLI::App& app, GlobalOptions& global);

// Adds zklock help [COMMAND | TOPIC].
Execute add_help(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
