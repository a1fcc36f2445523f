// SPDX-License-Identifier: Apache-2.0
// Standard output: what was asked for and nothing else.
#pragma once

#include "host/loop.h"

#include <string_view>

namespace zklock::command {

// All of it, waiting as long as that takes: only without a session, whose heartbeat would stop meanwhile. Throws a
// Failure (74) if it could not be written.
void print(std::string_view text);

// The same in the loop, whose other sources go on meanwhile.
void print(host::Loop& loop, std::string_view text);

}  // namespace zklock::command
