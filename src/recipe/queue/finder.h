// SPDX-License-Identifier: Apache-2.0
// What a consumer knows of a queue: the next items, and those that other consumers work on. So it need not look at all
// items each time that it wants one.
#pragma once

#include "recipe/queue/layout.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace zklock::recipe {

// Lists the segments in order, and the items of the first one that has any, or of several if many items are wanted. A
// list is used for 100 ms, or for a few round trips if the servers are far away. So many items taken in a row cost one
// list. A single item costs the same at any depth of the queue.
//
// A pass asks for the list of segments and for those of the first known segments together. While claims are on their
// way, the lists of the next pass can be asked for ahead, so that the consumer need not wait for them.
class ItemFinder {
 public:
  ItemFinder(zk::Session& session, QueueLayout layout) : session_(session), layout_(std::move(layout)) {}

  // True if the lists may still be used.
  bool is_fresh() const;
  // True if it is time for the next pass: its lists are here, or those in use are too old. If the next ones are on
  // their way, those in use may be a round trip older.
  bool is_over() const;
  // Sends the requests for the lists of the next pass, if those in use are too old in a round trip. `most` and `alone`
  // as for next().
  void ask_ahead(size_t most, bool alone);
  // True if restart(false) need not wait for lists.
  bool is_next_here() const { return next_ && next_->last->done && BootClock::now() < fresh_after(next_->asked); }

  // Begins a new pass, with the lists that were asked for ahead, unless they are too old. With `synced`, it begins with
  // a sync, so that nothing committed before is missing from it.
  void restart(bool synced);
  // Begins a pass with the list in `found`, which was made after a sync.
  void restart_with(const FoundQueue& found);
  // To be called when a pass has given items: it no longer proves that the queue is empty.
  void note_used() {
    used_ = true;
    synced_ = false;
  }
  // True if this pass has given items.
  bool is_used() const { return used_; }
  // True from restart_with() until the first next(), while the list is fresh.
  bool is_primed() const { return primed_ && is_fresh(); }

  // Moves the next `count` items of each segment behind all others of that segment, for the rest of this pass.
  void put_off(size_t count);

  // Returns the paths of the next items, in order, `most` at most; none at the end of the pass, or without `waits` if
  // the next list is on its way. If the caller is `alone` and wants many, several segments are listed at once. Deletes
  // sealed and empty segments that it finds. Throws what the session throws, and a Failure if the queue may not be
  // listed.
  std::vector<std::string> next(size_t most, bool alone = false, bool waits = true);

  // True if this pass has found items that are not ours, in work or free.
  bool found_any() const { return found_any_; }
  // True if nothing committed before this pass is missing from it.
  bool synced() const { return synced_; }

  // The items that next() leaves out, because they are ours.
  void leave_out(const std::string& path) { ours_.insert(path); }
  bool is_ours(const std::string& path) const { return ours_.contains(path); }
  void forget(const std::string& path);
  // Forgets these items and all lists. To be called when the session is over.
  void forget_all();

 private:
  // The requests for the lists of a pass, which are sent together.
  struct PassLists {
    Deadline asked{};
    uint64_t connections = 0;  // Client::connections() then
    zk::Call sync;             // null: without one
    zk::Call segments;
    std::map<std::string, zk::Call> items;  // by the path of the segment
    zk::Call last;                          // the one that was sent last
  };

  PassLists ask(bool synced, size_t count);
  void list_segments(size_t count);
  void take_segments(const zk::Answer& list, uint64_t connections, Deadline asked);
  void ask_for_items(size_t count);
  bool list_items(size_t count, bool waits);
  void take_items(const std::string& segment, const zk::Answer& list);
  Deadline fresh_after(Deadline asked) const;
  Duration took_since(Deadline asked) const;
  void freshen(Deadline asked);
  void note_ended(const std::string& path);

  zk::Session& session_;
  QueueLayout layout_;
  bool listed_ = false;  // the segments were listed in this pass
  bool synced_ = false;
  bool primed_ = false;
  bool used_ = false;
  bool found_any_ = false;
  bool has_items_ = false;    // items were listed in this pass
  uint64_t connections_ = 0;  // Client::connections() when the segments were listed
  Deadline fresh_until_{};
  Duration took_{};  // how long the list took
  size_t put_off_ = 0;
  std::deque<std::string> segments_;       // paths, not listed yet
  std::map<std::string, zk::Call> asked_;  // the lists of these that are on their way
  Deadline asked_at_{};                    // when they were asked for last
  std::optional<PassLists> next_;          // of the next pass, on their way
  std::vector<std::string> known_;         // paths of the segments that were listed last
  std::deque<std::string> items_;          // paths, not returned yet
  std::unordered_set<std::string> ours_;
  // What lists on their way may show though it is over: items that were ours, and deleted segments.
  std::unordered_set<std::string> ended_;
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
