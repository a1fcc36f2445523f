// SPDX-License-Identifier: Apache-2.0
// Where the next items stand, and which of them others work on: what a consumer knows of a queue without having to look
// at each item whenever it wants one.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace zklock::recipe {

// The segments in order, and the names in the first one that has any. A list is used for a moment, so that many items
// taken in a row cost one list, and one taken alone costs no more, whatever the depth.
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

// It is set, and has not fired.
inline bool stands(const zk::Watch& watch) {
  return watch && !watch->fired;
}

// Items that others work on; there may be tens of thousands. What is known is as old as the last look, unless there is
// a watch on the item.
class InWork {
 public:
  // A look has just found it in work. With a watch on its children, where one was set.
  void note(const std::string& path, const zk::Watch& watch = nullptr);
  // It is free, or gone.
  void forget(const std::string& path) { items_.erase(path); }
  void clear() { items_.clear(); }

  bool knows(const std::string& path) const { return items_.contains(path); }
  bool empty() const { return items_.empty(); }
  // It is in work for all that we know: its watch has not fired, or it was seen a moment ago. How long a moment is
  // grows with their number, so that looking again costs about 2000 requests a second at most.
  bool is_sure(const std::string& path) const;
  // Known, but not sure any more, as nobody has looked for a while.
  bool is_old(const std::string& path) const;
  // Leaves out what nobody has looked at for long: it may be gone.
  void prune();

  // In the order of their paths: those with no watch on them that has not fired.
  std::vector<std::string> unwatched() const;
  std::vector<zk::Watch> watches() const;
  // How much all paths with a watch on them take, with `more` for each.
  size_t watched_size(size_t more) const;

  // Those to look at again: all whose watch has fired, and of the others `most`, when it is time for them.
  std::vector<std::string> due(size_t most) const;
  // When the next will be due; kNever: all are watched.
  Deadline next_due() const;

 private:
  struct Seen {
    Deadline at;
    zk::Watch watch;
  };

  Duration span() const;

  std::map<std::string, Seen> items_;  // by their paths
};

}  // namespace zklock::recipe
