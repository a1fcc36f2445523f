// SPDX-License-Identifier: Apache-2.0
// Which servers are asked something each for itself, and for how long.
#pragma once

#include "command/cli/options.h"
#include "zk/ensemble.h"

#include <string>
#include <vector>

namespace zklock::command {

// Those that are named, as HOST[:PORT] or a list of them; without any, those of --servers. None twice; a chroot is
// passed over. Throws a Failure (64) that names the culprit.
std::vector<zk::Server> named_servers(const std::vector<std::string>& words, const GlobalOptions& global);

// What -w says, else 5 s. Throws a Failure (64).
Duration asking_time(const Value& timeout);

}  // namespace zklock::command
