// SPDX-License-Identifier: Apache-2.0
// Puts dead letters back into their queue.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <cstdint>
#include <set>
#include <string>

namespace zklock::recipe {

// Puts dead letters back at the end of their priority, as if they were pushed now, many at once. Takes those whose
// names are in `ids`, or all if `ids` is empty. Each goes in a transaction of its own, so that none is lost or there
// twice. Adds how many to `moved`, and removes the IDs that it has found from `ids`. Throws what the session throws,
// and a Failure if the ACL forbids a request (77), or if a node that is not zklock's is in the way (65). In `found`,
// layout.items() and layout.dead() are listed, in this order. A failure leaves what was done before it: at least
// `moved`, and up to 256 letters more if their answers were lost.
void requeue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, std::set<std::string>& ids,
             int64_t& moved);

}  // namespace zklock::recipe
