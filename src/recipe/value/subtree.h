// SPDX-License-Identifier: Apache-2.0
// Lists and removes a node and all nodes below it. Others may add and remove nodes meanwhile. The functions throw what
// change_value() throws.
#pragma once

#include "recipe/value/change.h"
#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

// Returns the sorted paths of the node and all below it, so each node comes after those above it; empty if there is no
// such node. Throws a Failure (77) if a node may not be listed.
std::vector<std::string> list_subtree(zk::Session& session, const std::string& path, const std::string& tried);

// Returns the paths that remove_subtree() would remove now, in the same order; empty if there is no such node. Throws
// the Failure (65) that it would throw.
std::vector<std::string> list_removable(zk::Session& session, const std::string& path, const std::string& tried);

// Removes the node and all below it, from the leaves on, in as many transactions as it takes. `change` is a removal,
// and each transaction has its checks. Adds to `removed` how many nodes are known to be removed, also if it throws.
// Throws a Failure (65) if zklock uses a part of the tree for something else; if that is found at the beginning,
// nothing is removed. In all cases but `done`, the rest of the tree stays. Returns `has_children` if it gave up because
// others kept adding nodes.
ChangeResult remove_subtree(zk::Session& session, const ValueChange& change, const std::string& tried, size_t& removed);

}  // namespace zklock::recipe
