// SPDX-License-Identifier: Apache-2.0
// A value: the bytes on a persistent node, whoever made it, as they are now. Changing it: change.h.
//
// The functions throw what the session throws, and a Failure that begins with what was `tried` ("cannot get /v"): 69
// when the session has expired, 77 for what is not allowed.
#pragma once

#include "zk/session.h"

#include <string>
#include <string_view>

namespace zklock::recipe {

// As it was read.
struct NodeValue {
  bool exists = false;
  std::string data;
  zk::Stat stat;
};

// Nothing that was committed before is missing from it.
NodeValue read_value(zk::Session& session, const std::string& path, const std::string& tried, Deadline until);

// Throws a Failure (65) where a node is not for values: an ephemeral one, a queue, a group. `data` as far as it is
// known.
void check_is_value(const std::string& path, const zk::Stat& stat, std::string_view data, const std::string& tried);

}  // namespace zklock::recipe
