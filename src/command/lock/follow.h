// SPDX-License-Identifier: Apache-2.0
// zklock show --follow: a line for each change of who holds the locks and who waits for them, for ever.
#pragma once

#include "command/cli/subcommand.h"

#include <string>
#include <vector>

namespace zklock::command {

// Prints who is there, and then each change. A reader that is slow gets what there is when it is ready; it never holds
// up the session. Does not end well: throws a Failure, by SIGPIPE when nobody reads any more, by a signal, 65 for what
// is no lock, 69 when no server answers at the start, 74, 77.
int follow_locks(const Call& call, const std::vector<std::string>& paths, bool json);

}  // namespace zklock::command
