// SPDX-License-Identifier: Apache-2.0
// Makes holders let go of their lock: asks them to, or deletes their nodes. A name with a unique id is never used
// again, so no later contender is hit. The functions make no nodes of their own, and if the session expires, they
// continue in a new one. They throw what the session throws, and a Failure (77) if the ACL forbids it.
#pragma once

#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

using Nodes = std::vector<std::string>;  // paths of holders' nodes

// Writes on each node what Curator's Revoker writes. Returns the nodes that have this text now; the others are gone.
Nodes ask_to_let_go(zk::Session& session, const Nodes& nodes);

// Waits until all nodes are gone, until `until` at most. Returns those that are left. If there is no connection by
// then, some of these may be gone too.
Nodes wait_until_gone(zk::Session& session, const Nodes& nodes, Deadline until);

// Deletes the nodes. Returns those that were still there, or may have been, because the answer to a delete was lost.
Nodes take_away(zk::Session& session, const Nodes& nodes);

}  // namespace zklock::recipe
