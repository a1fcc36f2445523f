// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/finder.h"

#include "base/contains.h"
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

// If fewer items are left of those that were listed, it asks for the next lists.
constexpr size_t kFewLeft = kSegmentSize;

// For items in work: when each is looked at again.
constexpr Duration kLeastSpan = 1s;
constexpr Duration kForEach = 500us;
constexpr int kSure = 2;  // in spans; more than one, so that the next look comes before
constexpr Duration kStale = 60s;
constexpr Duration kSureOfFew = 100ms;

size_t listed_at_once(size_t most, bool alone) {
  return alone && most >= kMany ? kListedAtOnce : 1;
}

}  // namespace

bool ItemFinder::is_fresh() const {
  return BootClock::now() < fresh_until_;
}

bool ItemFinder::is_over() const {
  return is_next_here() || BootClock::now() >= fresh_until_ + (next_ ? took_ : Duration::zero());
}

void ItemFinder::ask_ahead(size_t most, bool alone) {
  if (!next_ && BootClock::now() >= fresh_until_ - took_) next_ = ask(false, listed_at_once(most, alone));
}

void ItemFinder::restart(bool synced) {
  listed_ = false;
  primed_ = false;
  used_ = false;
  synced_ = synced;
  found_any_ = false;
  put_off_ = 0;
  segments_.clear();
  items_.clear();
  asked_.clear();
  if (next_ && (synced || BootClock::now() >= fresh_after(next_->asked))) next_.reset();
  if (!next_) ended_.clear();
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

std::vector<std::string> ItemFinder::next(size_t most, bool alone, bool waits) {
  primed_ = false;
  const size_t count = listed_at_once(most, alone);
  if (!listed_) list_segments(count);
  while (items_.empty() && !segments_.empty() && list_items(count, waits)) {
  }
  std::vector<std::string> paths;
  for (; paths.size() < most && !items_.empty(); items_.pop_front()) paths.push_back(items_.front());
  // Over a distance, the next lists would come too late if they were asked for only when they are needed.
  if (count > 1 && items_.size() < kFewLeft) ask_for_items(count);
  // The pass is over; a server that we moved to in its course may know less than the sync was for.
  if (paths.empty() && synced_ && connections_ != session_.client().connections()) synced_ = false;
  return paths;
}

// Asks for the list of segments, and for those of the first `count` known ones.
ItemFinder::PassLists ItemFinder::ask(bool synced, size_t count) {
  session_.ready();
  zk::Client& client = session_.client();
  PassLists lists{BootClock::now(), client.connections(), nullptr, nullptr, {}, nullptr};
  if (synced) lists.sync = client.sync(layout_.items());
  lists.last = lists.segments = client.children(layout_.items());
  for (size_t i = 0; i < std::min(count, known_.size()); ++i) {
    lists.last = lists.items[known_[i]] = client.children(known_[i]);
  }
  return lists;
}

// A pass that begins with a sync goes through all segments, as a rule.
void ItemFinder::list_segments(size_t count) {
  for (;;) {
    PassLists lists = next_ ? *std::exchange(next_, std::nullopt) : ask(synced_, synced_ ? kListedAtOnce : count);
    const Code synced = lists.sync ? session_.await(lists.sync).code : Code::ok;
    const Answer list = session_.await(lists.segments);
    if (synced == Code::unknown || list.code == Code::unknown) continue;
    take_segments(list, lists.connections, lists.asked);
    asked_ = std::move(lists.items);
    std::erase_if(asked_, [this](const auto& asked) { return !contains(segments_, asked.first); });
    return;
  }
}

void ItemFinder::take_segments(const Answer& list, uint64_t connections, Deadline asked) {
  const std::string items = layout_.items();
  known_.clear();
  for (const Segment& segment : segments_in(items, list)) known_.push_back(segment_path(items, segment));
  segments_.assign(known_.begin(), known_.end());
  listed_ = true;
  has_items_ = false;
  connections_ = connections;
  fresh_until_ = {};
  asked_at_ = asked;
  freshen(asked);
}

// Asks for the lists of the first `count` segments, if that of the first one is not on its way.
void ItemFinder::ask_for_items(size_t count) {
  if (segments_.empty() || asked_.contains(segments_.front())) return;
  session_.ready();
  asked_at_ = BootClock::now();
  for (size_t i = 0; i < std::min(count, segments_.size()); ++i) {
    zk::Call& call = asked_[segments_[i]];
    if (!call) call = session_.client().children(segments_[i]);
  }
}

// Takes in the lists that are here or on their way. Returns false if it would have to wait, and must not.
bool ItemFinder::list_items(size_t count, bool waits) {
  ask_for_items(count);
  if (!waits && !asked_.at(segments_.front())->done) return false;
  while (!segments_.empty() && asked_.contains(segments_.front())) {
    const std::string segment = segments_.front();
    Answer list = session_.await(asked_.at(segment));
    if (list.code == Code::unknown) list = session_.children(segment);
    take_items(segment, list);
    asked_.erase(segment);
    segments_.pop_front();
  }
  if (asked_.empty() && !next_) ended_.clear();
  // With the first of them, the pass is as new as its items.
  if (!std::exchange(has_items_, true)) freshen(asked_at_);
  if (put_off_ > 0) put_off(put_off_);
  return true;
}

void ItemFinder::take_items(const std::string& segment, const Answer& list) {
  if (list.code == Code::no_node || ended_.contains(segment)) return;
  if (list.code != Code::ok) throw zk::failure_of("cannot list " + segment, list);
  if (remove_if_done(session_, segment, list.stat)) {
    std::erase(known_, segment);
    note_ended(segment);
  }
  for (std::string& path : item_paths(segment, list.names)) {
    if (ours_.contains(path) || ended_.contains(path)) continue;
    found_any_ = true;
    items_.push_back(std::move(path));
  }
}

// Returns how long a list took that is here: it may have come before now.
Duration ItemFinder::took_since(Deadline asked) const {
  return std::min<Duration>(BootClock::now() - asked, session_.round_trip());
}

// Returns until when a list is used that was asked for at `asked` and is here.
Deadline ItemFinder::fresh_after(Deadline asked) const {
  const Duration took = took_since(asked);
  return asked + std::max<Duration>(kFresh, took + std::min<Duration>(kFreshParts * took, kLongestFresh));
}

void ItemFinder::freshen(Deadline asked) {
  const Deadline until = fresh_after(asked);
  if (until <= fresh_until_) return;
  fresh_until_ = until;
  took_ = std::min<Duration>(took_since(asked), kLongestFresh);
}

void ItemFinder::forget(const std::string& path) {
  ours_.erase(path);
  note_ended(path);
}

void ItemFinder::note_ended(const std::string& path) {
  if (next_ || !asked_.empty()) ended_.insert(path);
}

void ItemFinder::forget_all() {
  ours_.clear();
  ended_.clear();
  known_.clear();
  asked_.clear();
  next_.reset();
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
