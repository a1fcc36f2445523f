// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/finder.h"

#include "zk/path.h"

#include <algorithm>
#include <utility>

namespace zklock::recipe {

namespace {

using namespace std::chrono_literals;
using zk::Answer;
using zk::Code;

// How long a list is used. A consumer may overlook an item of a higher priority, or one that was given back, for so
// long. If listing takes long, the list is used for a few times as long, or each batch of claims would need a new one.
constexpr Duration kFresh = 100ms;
constexpr Duration kLongestFresh = 1s;
constexpr int kFreshParts = 4;  // of the time that the list took

// A consumer that takes many items lists several segments at once.
constexpr size_t kMany = 64;
constexpr size_t kListedAtOnce = 8;

// For items in work: when each is looked at again.
constexpr Duration kLeastSpan = 1s;
constexpr Duration kForEach = 500us;
constexpr int kSure = 2;  // in spans; more than one, so that the next look comes before
constexpr Duration kStale = 60s;
constexpr Duration kSureOfFew = 100ms;

// Returns until when a list is used that was requested at `asked` and has arrived now.
Deadline fresh_after(Deadline asked) {
  const Deadline now = BootClock::now();
  return std::max(asked + kFresh, now + std::min<Duration>(kFreshParts * (now - asked), kLongestFresh));
}

}  // namespace

bool ItemFinder::is_fresh() const {
  return BootClock::now() < fresh_until_;
}

void ItemFinder::restart(bool synced) {
  listed_ = false;
  primed_ = false;
  synced_ = synced;
  found_any_ = false;
  put_off_ = 0;
  segments_.clear();
  items_.clear();
}

void ItemFinder::restart_with(const FoundQueue& found) {
  restart(true);
  if (!found.exists || found.lists.front().code != Code::ok) return;
  take_segments(found.lists.front(), found.connections, BootClock::now());
  primed_ = true;
}

void ItemFinder::put_off(size_t count) {
  put_off_ = count;
  // Each segment is rotated by itself, so that the items of a higher priority stay before all others.
  for (auto begin = items_.begin(); begin != items_.end();) {
    const std::string segment = zk::parent_of(*begin);
    const auto end =
        std::find_if(begin, items_.end(), [&](const std::string& path) { return zk::parent_of(path) != segment; });
    std::rotate(begin, begin + static_cast<ptrdiff_t>(count) % (end - begin), end);
    begin = end;
  }
}

std::vector<std::string> ItemFinder::next(size_t most, bool alone) {
  primed_ = false;
  if (!listed_) list_segments();
  while (items_.empty() && !segments_.empty()) list_items(alone && most >= kMany ? kListedAtOnce : 1);
  std::vector<std::string> paths;
  for (; paths.size() < most && !items_.empty(); items_.pop_front()) paths.push_back(items_.front());
  // The pass is over; a server that we moved to in its course may know less than the sync was for.
  if (paths.empty() && synced_ && connections_ != session_.client().connections()) synced_ = false;
  return paths;
}

void ItemFinder::list_segments() {
  const std::string items = layout_.items();
  const Deadline asked = BootClock::now();
  const Answer list = synced_ ? session_.synced_children(items) : session_.children(items);
  take_segments(list, session_.client().connections(), asked);
}

void ItemFinder::take_segments(const Answer& list, uint64_t connections, Deadline asked) {
  const std::string items = layout_.items();
  for (const Segment& segment : segments_in(items, list)) segments_.push_back(segment_path(items, segment));
  listed_ = true;
  connections_ = connections;
  fresh_until_ = fresh_after(asked);
}

void ItemFinder::list_items(size_t count) {
  count = std::min(count, segments_.size());
  const std::vector<std::string> segments(segments_.begin(), segments_.begin() + static_cast<ptrdiff_t>(count));
  const Deadline asked = BootClock::now();
  const std::vector<Answer> lists = zk::children_all(session_, segments);
  if (count > 1) fresh_until_ = std::max(fresh_until_, fresh_after(asked));
  for (size_t i = 0; i < count; ++i) {
    if (lists[i].code == Code::no_node) continue;
    if (lists[i].code != Code::ok) throw zk::failure_of("cannot list " + segments[i], lists[i]);
    remove_if_done(session_, segments[i], lists[i].stat);
    for (std::string& path : item_paths(segments[i], lists[i].names)) {
      if (ours_.contains(path)) continue;
      found_any_ = true;
      items_.push_back(std::move(path));
    }
  }
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<ptrdiff_t>(count));
  if (put_off_ > 0) put_off(put_off_);
}

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
