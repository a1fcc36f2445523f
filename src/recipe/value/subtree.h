// SPDX-License-Identifier: Apache-2.0
// A node and all that is below it, listed and removed. Others may add and remove meanwhile. The functions throw what
// change_value() throws.
#pragma once

#include "recipe/value/change.h"
#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

// Their paths, sorted, so that each node comes behind those above it; empty if there is no such node. What may not be
// listed throws a Failure (77).
std::vector<std::string> list_subtree(zk::Session& session, const std::string& path, const std::string& tried,
                                      Deadline until);

// Removes it from its leaves on, in as many transactions as it takes, each with the checks of `change`, a removal.
// Adds to `removed` how many nodes are known to have gone; that also holds after a Failure. Throws a Failure (65) if
// zklock uses a part of the tree for something else; if that is so from the beginning, nothing is removed. What ends it
// leaves the rest: `has_children` if others have added so often that it was given up.
ChangeResult remove_subtree(zk::Session& session, const ValueChange& change, const std::string& tried, size_t& removed,
                            Deadline until);

}  // namespace zklock::recipe
