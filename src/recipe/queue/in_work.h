// SPDX-License-Identifier: Apache-2.0
// What a consumer knows of items that others work on, so that it need not look at each of them whenever it wants one:
// there may be tens of thousands. What it knows is as old as its last look, unless there is a watch on the item.
#pragma once

#include "base/time.h"
#include "zk/answer.h"

#include <map>
#include <string>
#include <vector>

namespace zklock::recipe {

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

// It is set, and has not fired.
inline bool stands(const zk::Watch& watch) {
  return watch && !watch->fired;
}

}  // namespace zklock::recipe
