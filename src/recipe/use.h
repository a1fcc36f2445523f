// SPDX-License-Identifier: Apache-2.0
// Where locks, groups and queues may be made. What lies below a queue is the queue's own, and a node that is called
// like a contender would be taken for one. Nothing need be said of what lies below a contender or a member: those are
// ephemeral, and the server refuses it.
#pragma once

#include "zk/session.h"

#include <string>
#include <string_view>

namespace zklock::recipe {

// Before anything is made at `path`, or below it, where nothing is yet: reads all nodes above it, at once. Throws a
// Failure (65) for a site of that kind, and what the session throws; `tried` is for that: "cannot take /l". What may
// not be read does not count. Returns also when the session has expired.
void check_site(zk::Session& session, const std::string& path, std::string_view tried, Deadline until);

// The same where something may be already: asks nobody unless `path` has a name in it that nodes of queues have.
void check_names(zk::Session& session, const std::string& path, std::string_view tried, Deadline until);

}  // namespace zklock::recipe
