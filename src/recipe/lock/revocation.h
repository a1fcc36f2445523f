// SPDX-License-Identifier: Apache-2.0
// Making holders let go of their lock: they are asked to, or their nodes are deleted. Names of nodes are never used
// again, so whoever comes next is never hit. It makes no nodes of its own, and if its session expires it goes on with
// another. All throw what the session throws, and a Failure (77) where the ACL forbids it.
#pragma once

#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

using Nodes = std::vector<std::string>;  // paths of holders' nodes

// Writes on each what Curator's Revoker writes. Returns those where it stands now; the others are gone.
Nodes ask_to_let_go(zk::Session& session, const Nodes& nodes, Deadline until);

// Waits until all are gone, until `until` at most. Returns those that are left; when it is not connected by then, some
// of these may be gone too.
Nodes wait_until_gone(zk::Session& session, const Nodes& nodes, Deadline until);

// Deletes them. Returns those that were still there.
Nodes take_away(zk::Session& session, const Nodes& nodes, Deadline until);

}  // namespace zklock::recipe
