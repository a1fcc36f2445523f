// SPDX-License-Identifier: Apache-2.0
#include "zk/watches.h"

#include <fmt/format.h>

namespace zklock::zk {

Watching Watches::keep(std::string_view kind, const std::string& path, const Watch& watch) {
  if (!watch) return {};
  const std::string what = fmt::format("{} {}", kind, path);
  const auto [found, is_new] = numbers_.try_emplace(what, next_);
  if (is_new) ++next_;
  Watched& watched = watched_[found->second];
  watched.what = what;
  std::erase_if(watched.watches, [](const auto& old) { return old.expired(); });
  watched.watches.push_back(watch);
  return {watch, found->second};
}

void Watches::drop(const Watching& watching) {
  const auto found = watched_.find(watching.number);
  if (found == watched_.end()) return;
  std::erase_if(found->second.watches, [&](const auto& old) { return old.expired() || old.lock() == watching.watch; });
  if (!found->second.watches.empty()) return;
  numbers_.erase(found->second.what);
  watched_.erase(found);
}

void Watches::fire(uintptr_t number) {
  const auto found = watched_.find(number);
  if (found == watched_.end()) return;
  for (const auto& waiting : found->second.watches) {
    if (const Watch watch = waiting.lock()) watch->fired = true;
  }
  numbers_.erase(found->second.what);
  watched_.erase(found);
}

}  // namespace zklock::zk
