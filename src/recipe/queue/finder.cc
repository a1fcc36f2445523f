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
  pass_ = {};
  pass_.synced = synced;
  if (next_ && (synced || BootClock::now() >= fresh_after(next_->asked))) next_.reset();
  if (!next_) ended_.clear();
}

void ItemFinder::restart_with(const FoundQueue& found) {
  restart(true);
  if (!found.exists || found.lists.front().code != Code::ok) return;
  take_segments(found.lists.front(), found.connections, BootClock::now());
  pass_.primed = true;
}

void ItemFinder::put_off(size_t count) {
  pass_.put_off = count;
  // Each segment is rotated by itself, so that the items of a higher priority stay before all others.
  for (auto begin = pass_.items.begin(); begin != pass_.items.end();) {
    const std::string segment = zk::parent_of(*begin);
    const auto end =
        std::find_if(begin, pass_.items.end(), [&](const std::string& path) { return zk::parent_of(path) != segment; });
    std::rotate(begin, begin + static_cast<ptrdiff_t>(count) % (end - begin), end);
    begin = end;
  }
}

std::vector<std::string> ItemFinder::next(size_t most, bool alone, bool waits) {
  pass_.primed = false;
  // A pass that is to show that the queue is empty sees all segments at nearly one moment.
  const size_t count = pass_.synced && most > 1 ? kListedAtOnce : listed_at_once(most, alone);
  if (!pass_.listed) list_segments(count);
  while (pass_.items.empty() && !pass_.segments.empty() && list_items(count, waits)) {
  }
  std::vector<std::string> paths;
  for (; paths.size() < most && !pass_.items.empty(); pass_.items.pop_front()) paths.push_back(pass_.items.front());
  // Over a distance, the next lists would come too late if they were asked for only when they are needed.
  if (count > 1 && pass_.items.size() < kFewLeft) ask_for_items(count);
  // The pass is over; a server that we moved to in its course may know less than the sync was for.
  if (paths.empty() && pass_.synced && pass_.connections != session_.client().connections()) pass_.synced = false;
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
    PassLists lists =
        next_ ? *std::exchange(next_, std::nullopt) : ask(pass_.synced, pass_.synced ? kListedAtOnce : count);
    const Code synced = lists.sync ? session_.await(lists.sync).code : Code::ok;
    const Answer list = session_.await(lists.segments);
    if (synced == Code::unknown || list.code == Code::unknown) continue;
    take_segments(list, lists.connections, lists.asked);
    pass_.asked = std::move(lists.items);
    std::erase_if(pass_.asked, [this](const auto& asked) { return !contains(pass_.segments, asked.first); });
    return;
  }
}

void ItemFinder::take_segments(const Answer& list, uint64_t connections, Deadline asked) {
  const std::string items = layout_.items();
  known_.clear();
  for (const Segment& segment : segments_in(items, list)) known_.push_back(segment_path(items, segment));
  pass_.segments.assign(known_.begin(), known_.end());
  pass_.listed = true;
  pass_.has_items = false;
  pass_.connections = connections;
  fresh_until_ = {};
  pass_.asked_at = asked;
  freshen(asked);
}

// Asks for the lists of the first `count` segments, if that of the first one is not on its way.
void ItemFinder::ask_for_items(size_t count) {
  if (pass_.segments.empty() || pass_.asked.contains(pass_.segments.front())) return;
  session_.ready();
  pass_.asked_at = BootClock::now();
  for (size_t i = 0; i < std::min(count, pass_.segments.size()); ++i) {
    zk::Call& call = pass_.asked[pass_.segments[i]];
    if (!call) call = session_.client().children(pass_.segments[i]);
  }
}

// Takes in the lists that are here or on their way. Returns false if it would have to wait, and must not.
bool ItemFinder::list_items(size_t count, bool waits) {
  ask_for_items(count);
  if (!waits && !pass_.asked.at(pass_.segments.front())->done) return false;
  while (!pass_.segments.empty() && pass_.asked.contains(pass_.segments.front())) {
    const std::string segment = pass_.segments.front();
    Answer list = session_.await(pass_.asked.at(segment));
    if (list.code == Code::unknown) list = session_.children(segment);
    take_items(segment, list);
    pass_.asked.erase(segment);
    pass_.segments.pop_front();
  }
  if (pass_.asked.empty() && !next_) ended_.clear();
  // With the first of them, the pass is as new as its items.
  if (!std::exchange(pass_.has_items, true)) freshen(pass_.asked_at);
  if (pass_.put_off > 0) put_off(pass_.put_off);
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
    pass_.found_any = true;
    pass_.items.push_back(std::move(path));
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
  if (next_ || !pass_.asked.empty()) ended_.insert(path);
}

void ItemFinder::forget_all() {
  ours_.clear();
  ended_.clear();
  known_.clear();
  pass_.asked.clear();
  next_.reset();
}

}  // namespace zklock::recipe
