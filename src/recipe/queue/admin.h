// SPDX-License-Identifier: Apache-2.0
// Counts and lists the items of a queue for people. Items come and go meanwhile, and an item that is gone
// when it is read is left out. All functions throw what the session throws, and a Failure (77) if the ACL forbids a
// request. A failure leaves what was done before it.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace zklock::recipe {

struct QueueCounts {
  int64_t items = 0;  // those in work included
  int64_t dead = 0;
  int64_t in_work = 0;                  // counted only if `exact`
  std::map<int, int64_t> priorities;    // the items of each priority that was ever used, even if it is empty now
  std::vector<Segment> first_segments;  // the first segment that has items, of each priority that has any
};

// Counts the items of a queue. With `exact`, it counts those in work too, for which it reads the Stat of every item.
QueueCounts count_queue(zk::Session& session, const QueueLayout& layout, bool exact);
// The same if layout.items() and layout.dead() are listed already, in `found`.
QueueCounts count_queue(zk::Session& session, const QueueLayout& layout, const FoundQueue& found, bool exact);

// Returns when the oldest of the items in `counts` was pushed, ms since 1970 by the server's clock. 0: there is none,
// or the oldest ones have gone meanwhile. For each priority, it lists one segment and reads the Stats of its first few
// items.
int64_t find_oldest(zk::Session& session, const QueueLayout& layout, const QueueCounts& counts);

struct QueueItem {
  std::string path;
  zk::Stat stat;
  std::string data = {};    // its first bytes
  std::string claim = {};   // the text on its claim, if it is in work
  int64_t claim_ms = 0;     // when the claim was made, ms since 1970 by the server's clock; 0: there is none
  bool claim_left = false;  // the claim is in no session, so no consumer works on the item
  std::string why = {};     // the text that says why it is a dead letter
};

// Walks through the items or the dead letters, segment by segment.
class QueueWalk {
 public:
  // `list` is that of layout.dead() or layout.items(). Without it, the folder is listed after a sync.
  QueueWalk(zk::Session& session, const QueueLayout& layout, bool dead, const zk::Answer& list)
      : session_(session), dead_(dead), segments_(session, layout.folder(dead), list) {}
  QueueWalk(zk::Session& session, const QueueLayout& layout, bool dead)
      : QueueWalk(session, layout, dead, session.synced_children(layout.folder(dead))) {}

  // Returns the first items of the next segment that has any, `most` at most, and skips the rest of that segment.
  // Returns none at the end.
  std::vector<QueueItem> next(size_t most);

 private:
  std::vector<QueueItem> read(const std::vector<std::string>& paths, size_t most);
  void read_data(std::vector<QueueItem>& items);
  void read_children(std::vector<QueueItem>& items);

  zk::Session& session_;
  bool dead_;
  SegmentWalk segments_;
};

}  // namespace zklock::recipe
