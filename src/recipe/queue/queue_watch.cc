// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/queue_watch.h"

#include "base/contains.h"
#include "recipe/queue/in_work.h"
#include "zk/path.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

using namespace std::chrono_literals;

constexpr size_t kRoom = 64 * 1024;              // bytes of watched paths
constexpr size_t kRoomForItems = kRoom * 3 / 4;  // the part of it for items in work
constexpr Duration kPause = 250ms;               // the least time between looks at what is not watched
constexpr Duration kBlindPause = 1s;             // the same if that includes lists of segments
constexpr size_t kMostAtOnce = 500;              // items

}  // namespace

bool QueueWatch::watch() {
  std::erase_if(segment_watches_, [](const auto& watched) { return watched.second->fired; });
  room_taken_ = consumer_.in_work().watched_size(overhead());
  for (const auto& [path, watch] : segment_watches_) room_taken_ += path.size() + overhead();
  const bool listed = !stands(items_watch_);
  if (listed) list_segments();
  return watch_open(listed) && watch_items();
}

void QueueWatch::list_segments() {
  items_watch_ = std::make_shared<zk::WatchState>();
  const Answer list = zk::watch_children_all(session_, {{layout_.items(), items_watch_}}).front();
  if (list.code == Code::no_node) {
    throw Failure(ExitStatus::bad_data, "cannot wait at " + layout_.queue + ": the queue was deleted");
  }
  if (list.code != Code::ok) throw zk::failure_of("cannot list " + layout_.items(), list);
  segments_.clear();
  for (const Segment& segment : segments_of(list.names)) segments_.push_back(segment_path(layout_.items(), segment));
  open_.clear();
  // Only open segments need a watch: a sealed one gets no more items, and the transaction that seals it makes the next
  // one.
  const std::vector<Answer> looks = zk::stat_all(session_, segments_);
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (looks[i].code == Code::ok && !is_sealed(looks[i].stat)) open_.push_back(segments_[i]);
  }
}

// With `check_all`, it also lists the sealed segments, because some may have been made since we looked.
bool QueueWatch::watch_open(bool check_all) {
  std::map<std::string, zk::Watch> wanted;
  blind_ = false;
  for (const std::string& segment : open_) {
    if (segment_watches_.contains(segment)) continue;
    const bool fits = take_room(segment, kRoom);
    if (fits) wanted[segment] = std::make_shared<zk::WatchState>();
    blind_ |= !fits;
  }
  const std::vector<Answer> lists = zk::watch_children_all(session_, wanted);
  bool all_known = true;
  size_t i = 0;
  for (const auto& [segment, watch] : wanted) {
    if (lists[i].code == Code::ok) segment_watches_[segment] = watch;
    all_known &= lists[i].code == Code::ok && take_note(segment, lists[i].names);
    ++i;
  }
  if (!check_all) return all_known;
  const std::vector<Answer> all = zk::children_all(session_, segments_);
  for (i = 0; i < segments_.size(); ++i) all_known &= take_note(segments_[i], all[i].names);
  return all_known;
}

// Returns false if there are items that we know nothing of.
bool QueueWatch::take_note(const std::string& segment, const std::vector<std::string>& names) {
  const size_t before = found_.size();
  for (std::string& path : item_paths(segment, names)) {
    if (!consumer_.accounts_for(path)) found_.push_back(std::move(path));
  }
  return found_.size() == before;
}

// When a claim goes, only its item's list of children changes, so each item needs a watch.
bool QueueWatch::watch_items() {
  InWork& in_work = consumer_.in_work();
  std::map<std::string, zk::Watch> wanted;
  for (const std::string& path : in_work.unwatched()) {
    if (!take_room(path, kRoomForItems)) break;
    wanted[path] = std::make_shared<zk::WatchState>();
  }
  const std::vector<Answer> looks = zk::watch_children_all(session_, wanted);
  bool all_in_work = true;
  size_t i = 0;
  for (const auto& [path, watch] : wanted) {
    const bool there = looks[i].code == Code::ok;
    const bool claimed = there && contains(looks[i].names, zk::name_of(claim_of(path)));
    claimed ? in_work.note(path, watch) : in_work.forget(path);
    if (there && looks[i].names.empty()) found_.push_back(path);
    if (there && !looks[i].names.empty() && !claimed) consumer_.leave_out(path);
    all_in_work &= claimed;
    ++i;
  }
  return all_in_work;
}

// Returns how many bytes a path takes, besides its own, in the packet that sets the watches again: the chroot and the
// length.
size_t QueueWatch::overhead() const {
  return session_.options().servers.chroot.size() + sizeof(int32_t);
}

bool QueueWatch::take_room(const std::string& path, size_t limit) {
  const size_t size = path.size() + overhead();
  if (room_taken_ + size > limit) return false;
  room_taken_ += size;
  return true;
}

std::vector<zk::Watch> QueueWatch::watches() const {
  std::vector<zk::Watch> watches = consumer_.in_work().watches();
  watches.push_back(items_watch_);
  for (const auto& [path, watch] : segment_watches_) watches.push_back(watch);
  return watches;
}

Deadline QueueWatch::next_poll() const {
  if (blind_) return deadline_in(kBlindPause);
  const Deadline due = consumer_.in_work().next_due();
  return due == kNever ? kNever : std::max(due, deadline_in(kPause));
}

bool QueueWatch::look_at_due() {
  for (std::string& path : consumer_.those_free(consumer_.in_work().due(kMostAtOnce)))
    found_.push_back(std::move(path));
  return !consumer_.free_left() && found_.empty();
}

void QueueWatch::forget() {
  found_.clear();
  items_watch_.reset();
  segment_watches_.clear();
}

}  // namespace zklock::recipe
