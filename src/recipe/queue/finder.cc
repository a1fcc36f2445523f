// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/finder.h"

#include <algorithm>

namespace zklock::recipe {

namespace {

using namespace std::chrono_literals;
using zk::Answer;
using zk::Code;

// How long an item of a higher priority, or one that was given back, may be overlooked.
constexpr Duration kFresh = 100ms;

}  // namespace

bool ItemFinder::is_fresh() const {
  return BootClock::now() < listed_at_ + kFresh;
}

void ItemFinder::restart(bool synced) {
  listed_ = false;
  synced_ = synced;
  found_any_ = false;
  put_off_ = 0;
  segments_.clear();
  items_.clear();
}

void ItemFinder::put_off(size_t count) {
  put_off_ = count;
  if (items_.empty()) return;
  std::rotate(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(count % items_.size()), items_.end());
}

std::vector<std::string> ItemFinder::next(size_t most, Deadline until) {
  if (!listed_ && !list_segments(until)) return {};
  while (items_.empty() && !segments_.empty()) {
    const std::string segment = segments_.front();
    if (!list_items(segment, until)) return {};
    segments_.pop_front();
  }
  std::vector<std::string> paths;
  for (; paths.size() < most && !items_.empty(); items_.pop_front()) paths.push_back(items_.front());
  // The pass is over; a server that we moved to in its course may know less than the sync was for.
  if (paths.empty() && synced_ && connections_ != session_.client().connections()) synced_ = false;
  return paths;
}

bool ItemFinder::list_segments(Deadline until) {
  const std::string items = layout_.items();
  listed_at_ = BootClock::now();
  const Answer list = synced_ ? session_.synced_children(items, until) : session_.children(items, until);
  if (list.code == Code::expired) return false;
  if (list.code != Code::ok && list.code != Code::no_node) throw zk::failure_of("cannot list " + items, list);
  connections_ = session_.client().connections();
  listed_ = true;
  for (const Segment& segment : segments_of(list.names)) segments_.push_back(segment_path(items, segment));
  return true;
}

// A sealed segment gets no items any more. Its version does not change any more either; who else deletes it does no
// harm.
bool ItemFinder::list_items(const std::string& segment, Deadline until) {
  const Answer list = session_.children(segment, until);
  if (list.code == Code::expired) return false;
  if (list.code == Code::no_node) return true;
  if (list.code != Code::ok) throw zk::failure_of("cannot list " + segment, list);
  if (list.names.empty() && is_sealed(list.stat)) {
    session_.ready(until);
    const zk::Step removal{zk::Step::Kind::remove, segment, "", list.stat.version};
    session_.await(session_.client().transact({removal}), until);
    return true;
  }
  for (const ItemName& item : items_of(list.names)) {
    std::string path = segment + "/" + item.name;
    if (ours_.contains(path)) continue;
    found_any_ = true;
    items_.push_back(std::move(path));
  }
  put_off(put_off_);
  return true;
}

}  // namespace zklock::recipe
