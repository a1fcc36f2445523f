// SPDX-License-Identifier: Apache-2.0
#include "command/queue/tally.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

std::string count_of(size_t items) {
  return items == 1 ? "an item" : fmt::format("{} items", items);
}

}  // namespace

void Tally::ended(const std::string& path, const CommandEnd& end, Verdict verdict) {
  returned_.erase(path);
  last_ = end;
  if (verdict == Verdict::useless && !useless_) useless_ = end;
}

std::string Tally::failures() const {
  std::string text;
  if (dead_ > 0) text = count_of(dead_) + " went to the dead letters";
  const size_t left = left_ + returned_.size();
  if (left > 0) text += fmt::format("{}{} failed, to be tried again", dead_ > 0 ? ", " : "", count_of(left));
  return text;
}

}  // namespace zklock::command
