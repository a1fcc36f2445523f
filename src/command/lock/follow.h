// SPDX-License-Identifier: Apache-2.0
// zklock show --follow: prints a line for each change of the holders of locks and of the waiting contenders, without
// end.
#pragma once

#include "command/cli/subcommand.h"

#include <string>
#include <vector>

namespace zklock::command {

// Prints the contenders that are there, and then each change. A slow reader gets the latest state when it is ready, and
// never holds up the session. Only a Failure ends it: by SIGPIPE if the reader has gone, by another signal, 65 if a
// path is no lock, 69 if no server answers at the start, 74, 77.
int follow_locks(const Call& call, const std::vector<std::string>& paths, bool json);

}  // namespace zklock::command
