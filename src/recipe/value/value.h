// SPDX-License-Identifier: Apache-2.0
// A value: the bytes on a persistent node, whoever made it. Read it as it is now; write or delete it, if wanted only as
// long as it has a certain version, and only as long as certain other nodes are there: those by which its writer holds
// a lock (the sequencer of Chubby, a transaction that checks the owner in etcd).
//
// All functions throw what the session throws, and a Failure that begins with what was `tried` ("cannot set /v"): 69
// when the session has expired, 77 for what is not allowed.
#pragma once

#include "zk/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

// As it was read.
struct NodeValue {
  bool exists = false;
  std::string data;
  zk::Stat stat;
};

// Nothing that was committed before is missing from it.
NodeValue read_value(zk::Session& session, const std::string& path, const std::string& tried, Deadline until);

}  // namespace zklock::recipe
