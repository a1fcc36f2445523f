// SPDX-License-Identifier: Apache-2.0
// The paths that completions offer.
#pragma once

#include "base/time.h"
#include "command/cli/options.h"

#include <string>

namespace zklock::command {

// How long a person who types may have to wait: with the start and the shell's own work, a second.
inline constexpr Duration kCompletionPatience = std::chrono::milliseconds(900);

// Asks the servers that `options` name, and prints "paths" and the paths one level deep that begin with `prefix`, a
// line each. Each of them is a lock, a queue or a group, or leads to one; with `any_node`, it is any node. Prints
// nothing if there is none, if no server answers in time, or if the options are wrong; then it may end zklock with
// status 0. Throws a Failure only if it cannot print.
void offer_paths(const std::string& prefix, const GlobalOptions& options, bool any_node, Deadline until);

}  // namespace zklock::command
