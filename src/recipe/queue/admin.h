// SPDX-License-Identifier: Apache-2.0
// What people look at in a queue and put back into it: count, list, requeue. Items come and go
// meanwhile; one that is gone when its turn comes is left out. A failure leaves what was done before it. All functions
// throw what the session throws, a Failure (69) when it has expired, and one (77) for what is not allowed.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace zklock::recipe {

// What is in one priority.
struct PriorityCounts {
  int64_t items = 0;          // those in work among them
  int64_t first_segment = 0;  // the number of the first that has any
};

struct QueueCounts {
  int64_t items = 0;  // those in work among them
  int64_t dead = 0;
  int64_t in_work = 0;                       // only where it was asked for
  std::map<int, PriorityCounts> priorities;  // those that were ever used, and may have nothing in them now
};

// `exact`: in_work too, which takes a look at every item.
QueueCounts count_queue(zk::Session& session, const QueueLayout& layout, bool exact, Deadline until);

// Of what was counted there, when the oldest item was pushed, by the server's clock, ms since 1970; 0: there is none,
// or the oldest ones have gone meanwhile. Of each priority it lists one segment, and looks at its first few items.
int64_t find_oldest(zk::Session& session, const QueueLayout& layout, const QueueCounts& counts, Deadline until);

struct QueueItem {
  Segment segment;
  std::string name;
  zk::Stat stat;
  std::string data;         // its first bytes
  std::string claim;        // the text on its claim, of one in work
  int64_t claim_ms = 0;     // when that was made, the server's clock
  bool claim_left = false;  // the claim is in no session: nobody works on the item
  std::string why;          // of a dead one
};

// Walks through the items or the dead, segment by segment.
class QueueWalk {
 public:
  QueueWalk(zk::Session& session, const QueueLayout& layout, bool dead)
      : session_(session), folder_(dead ? layout.dead() : layout.items()), dead_(dead) {}

  // At most `most` of the next segment that has any; none at the end.
  std::vector<QueueItem> next(size_t most, Deadline until);

 private:
  std::vector<QueueItem> read(const Segment& segment, size_t most, Deadline until);
  std::vector<QueueItem> look_at(const Segment& segment, std::span<const ItemName> names, Deadline until);
  void read_data(std::vector<QueueItem>& items, Deadline until);
  void read_children(std::vector<QueueItem>& items, Deadline until);
  std::string path_of(const QueueItem& item) const { return item_path(folder_, item.segment, item.name); }

  zk::Session& session_;
  std::string folder_;
  bool dead_;
  bool begun_ = false;
  std::vector<Segment> ahead_;  // the next one last
};

// Puts dead items back at the end of their priority, as if they were pushed now: those of `ids`, their names, or all if
// there are none. Each goes in a transaction of its own, so that none is lost or there twice. Adds how many to `moved`,
// which also holds after a Failure; takes out of `ids` those it has found. Throws a Failure (65) for a node in the way
// that is not ours.
void requeue(zk::Session& session, const QueueLayout& layout, std::set<std::string>& ids, int64_t& moved,
             Deadline until);

}  // namespace zklock::recipe
