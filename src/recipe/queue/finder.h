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
    pass_.used = true;
    pass_.synced = false;
  }
  // True if this pass has given items.
  bool is_used() const { return pass_.used; }
  // True from restart_with() until the first next(), while the list is fresh.
  bool is_primed() const { return pass_.primed && is_fresh(); }

  // Moves the next `count` items of each segment behind all others of that segment, for the rest of this pass.
  void put_off(size_t count);

  // Returns the paths of the next items, in order, `most` at most; none at the end of the pass, or without `waits` if
  // the next list is on its way. If the caller is `alone` and wants many, several segments are listed at once. Deletes
  // sealed and empty segments that it finds. Throws what the session throws, and a Failure if the queue may not be
  // listed.
  std::vector<std::string> next(size_t most, bool alone = false, bool waits = true);

  // True if this pass has found items that are not ours, in work or free.
  bool found_any() const { return pass_.found_any; }
  // True if nothing committed before this pass is missing from it.
  bool synced() const { return pass_.synced; }

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

  // One time through the queue.
  struct Pass {
    bool synced = false;                    // nothing committed before it is missing from it
    bool primed = false;                    // is_primed()
    bool used = false;                      // is_used()
    bool found_any = false;                 // found_any()
    bool listed = false;                    // the segments were listed
    uint64_t connections = 0;               // Client::connections() then
    bool has_items = false;                 // items were listed
    size_t put_off = 0;                     // put_off()
    std::deque<std::string> segments;       // paths, not listed yet
    std::map<std::string, zk::Call> asked;  // the lists of these that are on their way
    Deadline asked_at{};                    // when they were asked for last
    std::deque<std::string> items;          // paths, not returned yet
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
  Deadline fresh_until_{};  // until then the lists in use may be used
  Duration took_{};         // how long the last of them took
  Pass pass_;
  std::optional<PassLists> next_;   // of the next pass, on their way
  std::vector<std::string> known_;  // paths of the segments that were listed last
  std::unordered_set<std::string> ours_;
  // What lists on their way may show though it is over: items that were ours, and deleted segments.
  std::unordered_set<std::string> ended_;
};

}  // namespace zklock::recipe
