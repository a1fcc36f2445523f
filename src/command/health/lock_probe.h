// SPDX-License-Identifier: Apache-2.0
// The proof that an ensemble does what it is there for: a lock is taken and given back, and both are measured.
#pragma once

#include "command/health/verdict.h"
#include "host/loop.h"
#include "zk/session.h"

#include <string>

namespace zklock::command {

// Waits in line for the lock at `path` if somebody has it. What fails, is in the probe's trouble; throws only what
// other sources of the loop throw by a signal. Leaves no node behind as long as a server can be reached.
Probe probe_lock(host::Loop& loop, const zk::SessionOptions& options, const std::string& path, Deadline until);

}  // namespace zklock::command
