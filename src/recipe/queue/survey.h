// SPDX-License-Identifier: Apache-2.0
// What is in a queue, for people to look at. Reads only. Items come and go meanwhile; one that is gone when its turn to
// be read comes is left out. All functions throw what the session throws, and a Failure (69) when it has expired.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

struct QueueCount {
  int64_t items = 0;  // those in work among them
  int64_t dead = 0;
  int64_t in_work = 0;  // only where it was asked for
};

// `exact`: in_work too, which takes a look at every item.
QueueCount count_queue(zk::Session& session, const QueueLayout& layout, bool exact, Deadline until);

// The segments below the items or the dead of a queue, after a sync. None where there is no queue.
std::vector<Segment> list_segments(zk::Session& session, const std::string& folder, Deadline until);

// The names of the items in a segment, in order; none where it is gone.
std::vector<std::string> list_items(zk::Session& session, const std::string& folder, const Segment& segment,
                                    Deadline until);

struct QueueItem {
  Segment segment;
  std::string name;
  zk::Stat stat;
  std::string data;      // its first bytes
  std::string claim;     // the text on its claim, of one in work
  int64_t claim_ms = 0;  // when that was made, the server's clock
  std::string why;       // of a dead one
};

// Walks through the items or the dead, segment by segment.
class QueueWalk {
 public:
  QueueWalk(zk::Session& session, std::string folder) : session_(session), folder_(std::move(folder)) {}

  // At most `most` of the next segment that has any; none at the end.
  std::vector<QueueItem> next(size_t most, Deadline until);

 private:
  std::vector<QueueItem> read(const Segment& segment, size_t most, Deadline until);
  void read_data(std::vector<QueueItem>& items, Deadline until);
  void read_children(std::vector<QueueItem>& items, Deadline until);
  std::string path_of(const QueueItem& item) const { return item_path(folder_, item.segment, item.name); }

  zk::Session& session_;
  std::string folder_;
  bool begun_ = false;
  std::vector<Segment> ahead_;  // the next one last
};

}  // namespace zklock::recipe
