// SPDX-License-Identifier: Apache-2.0
// The way back of what was given up on. Each item goes in a transaction of its own, so that none is lost or there
// twice.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>
#include <set>
#include <string>

namespace zklock::recipe {

// Puts dead items back at the end of their priority, as if they were pushed now: those of `ids`, their names, or all if
// there are none. Returns how many; takes out of `ids` those it has found. Throws a Failure for what has no way round,
// and what the session throws; what was moved before stays moved.
int64_t requeue(zk::Session& session, const QueueLayout& layout, std::set<std::string>& ids, Deadline until);

}  // namespace zklock::recipe
