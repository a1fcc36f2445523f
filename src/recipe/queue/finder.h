// SPDX-License-Identifier: Apache-2.0
// Where the next items stand: the segments in order, and the names in the first one that has any. A list is used for
// a moment, so that many items taken in a row cost one list, and one taken alone costs no more, whatever the depth.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

namespace zklock::recipe {

class ItemFinder {
 public:
  ItemFinder(zk::Session& session, QueueLayout layout) : session_(session), layout_(std::move(layout)) {}

  // Whether what is known is still to be used.
  bool is_fresh() const;
  // A new pass. `synced`: nothing that was committed before is missing from it.
  void restart(bool synced);

  // In the rest of this pass the next `count` items of each segment come behind all others of it.
  void put_off(size_t count);

  // Paths of the next items, in order, `most` at most. Empty at the end of the pass, and when the session is expired.
  // Also deletes what it finds sealed and empty. Throws a Failure where the queue may not be listed.
  std::vector<std::string> next(size_t most, Deadline until);

  // Of this pass: there were items in the queue, somebody's in work or free.
  bool found_any() const { return found_any_; }
  bool synced() const { return synced_; }

  // Items that are ours already, which next() leaves out.
  void leave_out(const std::string& path) { ours_.insert(path); }
  bool is_ours(const std::string& path) const { return ours_.contains(path); }
  void forget(const std::string& path) { ours_.erase(path); }
  void forget_all() { ours_.clear(); }

 private:
  bool list_segments(Deadline until);
  bool list_items(const std::string& segment, Deadline until);

  zk::Session& session_;
  QueueLayout layout_;
  bool listed_ = false;  // the segments, in this pass
  bool synced_ = false;
  bool found_any_ = false;
  uint64_t connections_ = 0;  // as of the sync
  Deadline listed_at_{};
  size_t put_off_ = 0;
  std::deque<std::string> segments_;  // paths, still to be listed
  std::deque<std::string> items_;     // paths, still to be given out
  std::unordered_set<std::string> ours_;
};

}  // namespace zklock::recipe
