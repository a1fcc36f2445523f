// SPDX-License-Identifier: Apache-2.0
// Reads a value: the present data of a persistent node, no matter which program made it. change.h changes values.
//
// The functions throw what the session throws, and a Failure that begins with what was `tried` ("cannot get /v"). Its
// status is 77 for what is not allowed.
#pragma once

#include "zk/session.h"

#include <string>
#include <string_view>

namespace zklock::recipe {

// A node as it was read.
struct NodeValue {
  bool exists = false;
  std::string data;
  zk::Stat stat;
};

// Reads the node after a sync, so the result contains what was committed before (see zk::Session::synced_read).
NodeValue read_value(zk::Session& session, const std::string& path, const std::string& tried);

// Throws a Failure (65) if the node is not for values: an ephemeral one, a queue or a group. `data` may be empty if it
// is not known.
void check_is_value(const std::string& path, const zk::Stat& stat, std::string_view data, const std::string& tried);

}  // namespace zklock::recipe
