// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/in_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace zklock::recipe {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLeastSpan = 1s;
constexpr Duration kForEach = 500us;
constexpr int kSure = 2;  // in spans; more than one, so that the next look comes before
constexpr Duration kStale = 60s;
constexpr Duration kSureOfFew = 100ms;

}  // namespace

// Returns the time between two looks at an item.
Duration InWork::span() const {
  return std::max<Duration>(kLeastSpan, kForEach * items_.size());
}

void InWork::note(const std::string& path, const zk::Watch& watch) {
  Seen& seen = items_[path];
  seen.at = BootClock::now();
  if (watch || !stands(seen.watch)) seen.watch = watch;
}

bool InWork::is_sure(const std::string& path) const {
  const auto found = items_.find(path);
  if (found == items_.end()) return false;
  const Seen& seen = found->second;
  if (seen.watch) return !seen.watch->fired;
  return BootClock::now() < seen.at + std::max<Duration>(kSureOfFew, kSure * kForEach * items_.size());
}

bool InWork::is_old(const std::string& path) const {
  const auto found = items_.find(path);
  return found != items_.end() && !found->second.watch && !is_sure(path);
}

void InWork::prune() {
  const Deadline oldest = BootClock::now() - kStale;
  std::erase_if(items_, [&](const auto& item) { return !stands(item.second.watch) && item.second.at < oldest; });
}

std::vector<std::string> InWork::unwatched() const {
  std::vector<std::string> paths;
  for (const auto& [path, seen] : items_) {
    if (!stands(seen.watch)) paths.push_back(path);
  }
  return paths;
}

std::vector<zk::Watch> InWork::watches() const {
  std::vector<zk::Watch> watches;
  for (const auto& [path, seen] : items_) {
    if (seen.watch) watches.push_back(seen.watch);
  }
  return watches;
}

size_t InWork::watched_size(size_t more) const {
  size_t size = 0;
  for (const auto& [path, seen] : items_) {
    if (stands(seen.watch)) size += path.size() + more;
  }
  return size;
}

// The oldest of the items without a watch come first. Otherwise, some would never have their turn if looking takes
// long.
std::vector<std::string> InWork::due(size_t most) const {
  const Deadline oldest = BootClock::now() - span();
  std::vector<std::string> paths;
  std::vector<std::pair<Deadline, const std::string*>> aged;
  for (const auto& [path, seen] : items_) {
    if (seen.watch && seen.watch->fired) paths.push_back(path);
    if (!seen.watch && seen.at <= oldest) aged.emplace_back(seen.at, &path);
  }
  most = std::min(most, aged.size());
  std::partial_sort(aged.begin(), aged.begin() + static_cast<ptrdiff_t>(most), aged.end());
  for (size_t i = 0; i < most; ++i) paths.push_back(*aged[i].second);
  return paths;
}

Deadline InWork::next_due() const {
  Deadline first = kNever;
  for (const auto& [path, seen] : items_) {
    if (!seen.watch) first = std::min(first, seen.at + span());
  }
  return first;
}

}  // namespace zklock::recipe
