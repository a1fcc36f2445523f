// SPDX-License-Identifier: Apache-2.0
// What a consumer knows of a queue without looking at each item whenever it wants one: the next items, and those that
// other consumers work on.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace zklock::recipe {

// Lists the segments in order, and the items of the first one that has any, or of several if many items are wanted. A
// list is used for 100 ms, or over a distance for a few round trips, so many items taken in a row cost one list.
// A single item costs the same at any depth of the queue.
class ItemFinder {
 public:
  ItemFinder(zk::Session& session, QueueLayout layout) : session_(session), layout_(std::move(layout)) {}

  // True if the lists may still be used.
  bool is_fresh() const;
  // Begins a new pass. With `synced`, it begins with a sync, so that nothing committed before is missing from it.
  void restart(bool synced);
  // Begins a pass with the list in `found`, which was made after a sync.
  void restart_with(const FoundQueue& found);
  // To be called when a pass begun by restart_with() has given items: it no longer proves that the queue is empty.
  void note_used() { synced_ = false; }
  // True from restart_with() until the first next(), while the list is fresh.
  bool is_primed() const { return primed_ && is_fresh(); }

  // Moves the next `count` items of each segment behind all others of that segment, for the rest of this pass.
  void put_off(size_t count);

  // Returns the paths of the next items, in order, `most` at most; none at the end of the pass. If the caller is
  // `alone` and wants many, several segments are listed at once. Deletes sealed and empty segments that it finds.
  // Throws what the session throws, and a Failure if the queue may not be listed.
  std::vector<std::string> next(size_t most, bool alone = false);

  // True if this pass has found items that are not ours, in work or free.
  bool found_any() const { return found_any_; }
  // True if nothing committed before this pass is missing from it.
  bool synced() const { return synced_; }

  // The items that next() leaves out, because they are ours.
  void leave_out(const std::string& path) { ours_.insert(path); }
  bool is_ours(const std::string& path) const { return ours_.contains(path); }
  void forget(const std::string& path) { ours_.erase(path); }
  void forget_all() { ours_.clear(); }

 private:
  void list_segments();
  void take_segments(const zk::Answer& list, uint64_t connections, Deadline asked);
  void list_items(size_t count);

  zk::Session& session_;
  QueueLayout layout_;
  bool listed_ = false;  // the segments were listed in this pass
  bool synced_ = false;
  bool primed_ = false;
  bool found_any_ = false;
  uint64_t connections_ = 0;  // Client::connections() when the segments were listed
  Deadline fresh_until_{};
  size_t put_off_ = 0;
  std::deque<std::string> segments_;  // paths, not listed yet
  std::deque<std::string> items_;     // paths, not returned yet
  std::unordered_set<std::string> ours_;
};

// True if the watch is set and has not fired.
inline bool stands(const zk::Watch& watch) {
  return watch && !watch->fired;
}

// The items that other consumers work on; there may be tens of thousands. What is known of an item is as old as the
// last look at it, unless there is a watch on it.
class InWork {
 public:
  // A look has just found the item in work, and may have set a `watch` on its children.
  void note(const std::string& path, const zk::Watch& watch = nullptr);
  // Forgets an item that is free or gone.
  void forget(const std::string& path) { items_.erase(path); }
  void clear() { items_.clear(); }

  bool knows(const std::string& path) const { return items_.contains(path); }
  bool empty() const { return items_.empty(); }
  // True if the item is in work for all that we know: its watch has not fired, or it was seen in work recently. What
  // counts as recent grows with the number of items, so that looking again costs about 2000 requests a second at most.
  bool is_sure(const std::string& path) const;
  // True if the item is known and has no watch, but was not seen recently.
  bool is_old(const std::string& path) const;
  // Forgets items without a standing watch that were last seen more than a minute ago: they may be gone.
  void prune();

  // Return the paths of the items without a standing watch, in order, and all watches.
  std::vector<std::string> unwatched() const;
  std::vector<zk::Watch> watches() const;
  // Returns the bytes of all paths with a standing watch, and `more` for each.
  size_t watched_size(size_t more) const;

  // Returns the items to look at again: all whose watch has fired, and at most `most` of the due ones without a watch.
  std::vector<std::string> due(size_t most) const;
  // Returns when the next item without a watch is due; kNever: all have one.
  Deadline next_due() const;

 private:
  struct Seen {
    Deadline at;  // when it was last seen in work
    zk::Watch watch;
  };

  Duration span() const;

  std::map<std::string, Seen> items_;  // by path
};

}  // namespace zklock::recipe
