// SPDX-License-Identifier: Apache-2.0
// A value written or deleted, if wanted only where it has a certain version, and only as long as certain other nodes
// are there: those by which its writer holds a lock. That is a transaction of checks and one change: the sequencer of
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
  int32_t version = -1;                // that the node has to have
  std::vector<std::string> held = {};  // these have to be there: else it is not done
};

enum class ChangeEnd {
  done,
  differs,       // another version is there, or nothing; for a create: there is something
  absent,        // there is nothing to remove
  has_children,  // nor may it be removed
  unheld,        // one of `held` is gone
  unknown,       // it may have been done: its answer was lost, and the node does not tell
};

struct ChangeResult {
  using End = ChangeEnd;
  End end;
  bool exists = false;   // what is there then, as far as it was looked at
  int32_t version = 0;   // of that
  int32_t children = 0;  // likewise
};

// Nodes above it that are missing are made in the same transaction. An answer that is lost with the connection, or with
// the session, is made up for by a look behind a quorum's word: it is done once at most. Throws what the session
// throws, and a Failure that begins with what was `tried` ("cannot set /v"): 65 for what zklock uses for something
// else, 69 when the session has expired, 77 for what is not allowed.
ChangeResult change_value(zk::Session& session, const ValueChange& change, const std::string& tried, Deadline until);

// Whether all that have to be there for it are, by a quorum's word; throws likewise.
bool is_held(zk::Session& session, const ValueChange& change, const std::string& tried, Deadline until);

}  // namespace zklock::recipe
