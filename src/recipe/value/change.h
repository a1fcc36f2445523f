// SPDX-License-Identifier: Apache-2.0
// Writes or deletes a value. On request, it does so only at a certain version, and only while certain other nodes are
// there: those by which the writer holds a lock. The change is a transaction of checks and one change: the sequencer of
// Chubby (Burrows 2006, 2.4), the IsOwner of etcd's concurrency package.
#pragma once

#include "recipe/value/fate.h"
#include "zk/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::recipe {

struct ValueChange {
  ChangeKind kind;
  std::string path;
  std::string data = {};               // to be written
  int32_t version = -1;                // that the node must have; -1: any
  std::vector<std::string> held = {};  // nodes that must be there, else nothing is changed
  bool is_last = false;                // the session ends behind it, or another one that had to be opened
};

enum class ChangeEnd {
  done,
  differs,       // another version is there, or nothing; for a create: something is there
  absent,        // for `remove`: there is no such node
  has_children,  // so the node cannot be removed
  unheld,        // one of `held` is gone
  unknown,       // it may have been done: its answer was lost, and the node does not show it
};

struct ChangeResult {
  using End = ChangeEnd;
  End end;
  bool exists = false;   // whether the node is there afterwards, as far as it was read
  int32_t version = 0;   // of that node
  int32_t children = 0;  // how many it has
};

// Makes the change, at most once, and returns what came of it. Missing nodes above it, except the chroot, are made in
// the same transaction. If the answer is lost with the connection or the session, it reads the node after a barrier to
// find out whether the change was done. Throws what the session throws, and a Failure that begins with what was `tried`
// ("cannot set /v"). Its status is 65 for what zklock uses for something else, and 77 for what is not allowed.
ChangeResult change_value(zk::Session& session, const ValueChange& change, const std::string& tried);

// Asks a quorum whether all nodes in `held` are there. Throws what change_value() throws.
bool is_held(zk::Session& session, const ValueChange& change, const std::string& tried);

}  // namespace zklock::recipe
