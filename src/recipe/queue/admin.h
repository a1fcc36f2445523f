// SPDX-License-Identifier: Apache-2.0
// Changes to a queue as a whole: what is there goes, the queue goes. A failure leaves what was done before it. All
// functions throw what the session throws, a Failure (69) when it has expired, and one (77) for what is not allowed.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>

namespace zklock::recipe {

struct Purged {
  int64_t removed = 0;
  int64_t in_work = 0;  // left, for there is a claim on them
};

// Removes the items that are there now and have no claim.
Purged purge_items(zk::Session& session, const QueueLayout& layout, Deadline until);
// Likewise the dead ones. What ends it may leave one that does not say why.
Purged purge_dead(zk::Session& session, const QueueLayout& layout, Deadline until);

// Removes a queue without items and dead ones, in one transaction. False if there is something in it, somebody pushes
// to it, or waits for items. Throws a Failure (65) for a node in it that is not ours.
bool delete_queue(zk::Session& session, const QueueLayout& layout, Deadline until);

}  // namespace zklock::recipe
