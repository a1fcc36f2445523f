// SPDX-License-Identifier: Apache-2.0
// Empties a queue, or removes it. A backup may have brought back nodes that are in no session: claims, places in line
// and markers. They are removed as if their owners had let go. A node that is not zklock's is named and left alone. A
// failure leaves what was done before it. The functions throw what the session throws, a Failure (69) when it has
// expired, and one (77) for what is not allowed.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::recipe {

struct Purged {
  int64_t removed = 0;
  int64_t in_work = 0;                    // left, for there is a claim on them
  std::vector<std::string> foreign = {};  // nodes below items that are left because of them
};

// Removes the items that are there now and have no claim (one with a claim has a child, so nobody can delete it), or
// the dead ones. Adds to `purged`, which also holds after a Failure. What ends it may leave a dead one that does not
// say why.
void purge_queue(zk::Session& session, const QueueLayout& layout, bool dead, Purged& purged, Deadline until);

// Removes a queue without items and dead ones, in one transaction. False if there is something in it, somebody pushes
// to it, or waits for items. Throws a Failure (65) for a node in it that is not ours.
bool delete_queue(zk::Session& session, const QueueLayout& layout, Deadline until);

}  // namespace zklock::recipe
