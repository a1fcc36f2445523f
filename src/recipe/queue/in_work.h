// SPDX-License-Identifier: Apache-2.0
// The items of a queue that other consumers work on.
#pragma once

#include "base/time.h"
#include "zk/client.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace zklock::recipe {

// True if the watch is set and has not fired.
inline bool stands(const zk::Watch& watch) {
  return watch && !watch->fired;
}

// There may be tens of thousands of items. What is known of one is as old as the last look at it, unless there is a
// watch on it.
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
