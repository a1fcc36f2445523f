// SPDX-License-Identifier: Apache-2.0
// What has become of a change to a node whose answer was lost with the connection, from two looks at the node: one
// before the change was sent, one behind a quorum's word after the loss (zk::Client::barrier), when the change is done
// or never will be. Pure. tests/model/value_model.cc goes through all that others may do between the two.
#pragma once

#include <cstdint>
#include <optional>

namespace zklock::recipe {

enum class ChangeKind {
  set,             // whatever is there; makes the node where it is missing
  set_version,     // only what has a certain version
  create,          // only where nothing is
  remove,          // whatever version it has
  remove_version,  // only one with a certain version
};

// What was seen of it.
struct Sight {
  bool exists = false;
  int64_t created = 0;          // its czxid
  int32_t version = 0;          // of its data
  std::optional<bool> is_ours;  // its bytes are those that were to be written; nothing: they may not be read
  int64_t around = 0;           // the cversion of the nearest node above it that was there before
};

enum class Fate {
  done,
  not_done,  // send it again: then it is told why it cannot be done, if it cannot
  unknown,   // others have changed it meanwhile, or may have written the same
};

// `version`: that the change demands.
Fate fate_of(ChangeKind kind, int32_t version, const Sight& before, const Sight& after);

}  // namespace zklock::recipe
