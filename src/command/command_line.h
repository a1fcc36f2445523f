// SPDX-License-Identifier: Apache-2.0
// The command line: which subcommand, its options, and everything that is wrong with them in one line (64).
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

// Parses and runs. Returns the exit status; throws a Failure where that is zklock's own or a signal.
int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy);

}  // namespace zklock::command
