// SPDX-License-Identifier: Apache-2.0
// What became of the items of one `queue pull`, and the exit status that this makes. Pure.
#pragma once

#include "command/queue/verdict.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace zklock::command {

class Tally {
 public:
  // The command of the item at `path` has ended.
  void ended(const std::string& path, const CommandEnd& end, Verdict verdict);
  // An item went to the dead letters; one that was not done goes back for good, or until it is taken again.
  void buried() { ++dead_; }
  void left() { ++left_; }
  void returned(const std::string& path) { returned_.insert(path); }

  // What no item can be worked on by has shown itself: how it ended.
  const std::optional<CommandEnd>& useless() const { return useless_; }
  // For a single item.
  const std::optional<CommandEnd>& last() const { return last_; }
  // "an item went to the dead letters, 2 items failed, to be tried again"; empty where all is well.
  std::string failures() const;

 private:
  size_t dead_ = 0;
  size_t left_ = 0;
  std::set<std::string> returned_;  // and not taken again so far
  std::optional<CommandEnd> last_;
  std::optional<CommandEnd> useless_;
};

}  // namespace zklock::command
