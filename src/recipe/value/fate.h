// SPDX-License-Identifier: Apache-2.0
// Determines whether a change was done whose answer was lost with the connection. It compares the node as read before
// the change was sent with the node as read after a barrier after the loss (zk::Client::barrier). By then the change is
// done or never will be. Pure. tests/model/value_model.cc tries all that others may do between the two.
#pragma once

#include <cstdint>
#include <optional>

namespace zklock::recipe {

enum class ChangeKind {
  set,             // any version; creates the node if it is missing
  set_version,     // only at a certain version
  create,          // only if there is no such node
  remove,          // any version
  remove_version,  // only at a certain version
};

// What was read of the node.
struct Sight {
  bool exists = false;
  int64_t created = 0;          // its czxid
  int32_t version = 0;          // of its data
  std::optional<bool> is_ours;  // whether its data is what was to be written; nothing: it may not be read
  int64_t around = 0;           // the pzxid of the nearest node above it that was there before; 0: it is gone
};

enum class Fate {
  done,
  not_done,  // send it again; if it cannot be done, the answer says why
  unknown,   // others have changed the node meanwhile, or may have written the same data
};

// Returns what became of the change. `version` is the one that it demands.
Fate fate_of(ChangeKind kind, int32_t version, const Sight& before, const Sight& after);

}  // namespace zklock::recipe
