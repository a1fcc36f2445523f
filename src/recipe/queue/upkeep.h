// SPDX-License-Identifier: Apache-2.0
// Changes a queue as a whole: puts dead letters back (requeue.cc), empties or deletes it (clearing.cc). A backup that
// was restored may have brought back claims, places in line and markers that are in no session. They are removed as if
// their owners had let go. A node that is not zklock's is named and left alone. In each `found`, layout.items() and
// layout.dead() are listed, in this order; for delete_queue(), the queue itself too, as the third. The functions throw
// what the session throws, and a Failure (77) if the ACL forbids a request. A failure leaves what was done before it.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// Puts dead letters back at the end of their priority, as if they were pushed now, many at once. Takes those whose
// names are in `ids`, or all if `ids` is empty. Each goes in a transaction of its own, so that none is lost or there
// twice. Adds how many to `moved`, and removes the IDs that it has found from `ids`. Throws a Failure (65)
// if a node that is not zklock's is in the way. A failure leaves at least `moved` done, and up to 256 letters more if
// their answers were lost.
void requeue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, std::set<std::string>& ids,
             int64_t& moved);

struct Purged {
  int64_t removed = 0;
  int64_t in_work = 0;                    // items left because there is a claim on them
  std::vector<std::string> foreign = {};  // nodes that are not zklock's, each below an item that is left because of it
};

// Removes the items that are there now and have no claim, or with `dead` the dead letters. An item with a claim has a
// child, so the server refuses to delete it. Adds to `purged`, which also holds after a Failure. A failure may leave a
// dead letter that does not say why it is one. The deletion of emptied segments may still be unanswered.
void purge_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool dead, Purged& purged);

// Deletes a queue that has no items and no dead letters, in one transaction. Returns true also if there is no queue,
// and false if something is in it or a client pushes to it or waits for items. Throws a Failure (65) if a node in it is
// not zklock's.
bool delete_queue(zk::Session& session, const QueueLayout& layout, FoundQueue found);

}  // namespace zklock::recipe
