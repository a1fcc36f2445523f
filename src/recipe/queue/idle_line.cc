// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/idle_line.h"

#include "recipe/queue/finder.h"
#include "zk/session.h"

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
constexpr int kLooksInDoubt = 6;

IdleEnd end_of(Outcome outcome) {
  if (outcome == Outcome::removed) return IdleEnd::removed;
  return outcome == Outcome::disturbed ? IdleEnd::disturbed : IdleEnd::timeout;
}

}  // namespace

IdleLine::IdleLine(host::Loop& loop, zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer)
    : session_(session),
      layout_(std::move(layout)),
      consumer_(consumer),
      place_(session, layout_.waiting(), *this, std::move(note), "cannot wait at " + layout_.queue),
      leaving_behind_(loop, *this) {}

IdleEnd IdleLine::wait(const WaitPolicy& patience, bool end_if_empty) {
  if (const auto end = wait_until_left(patience)) return *end;
  try {
    place_watch_.reset();
    const Outcome outcome = stand_in_line(patience);
    const IdleEnd end = outcome == Outcome::held ? wait_in_line(patience, end_if_empty) : end_of(outcome);
    // Our place went with the transaction that took the item.
    if (end == IdleEnd::taken) place_.forget();
    leave();
    return end;
  } catch (...) {
    leave();
    throw;
  }
}

// We assume that other consumers have the same session timeout.
bool IdleLine::in_doubt() {
  const uint64_t connections = session_.client().connections();
  if (connections_ != connections) settled_at_ = deadline_in(session_.timeout());
  connections_ = connections;
  return left_until(settled_at_) > Duration::zero();
}

Outcome IdleLine::stand_in_line(const WaitPolicy& patience) {
  const bool naps = in_doubt();
  nap_until_ = naps ? deadline_in(session_.timeout() / kLooksInDoubt) : kNever;
  WaitPolicy nap = patience;
  nap.disturbed = [&, naps] {
    const bool over = (naps && nap_until_ == kNever) || session_.client().connections() != connections_;
    return (over && session_.connected()) || (patience.disturbed && patience.disturbed());
  };
  const Outcome outcome = place_.acquire(nap);
  nap_until_ = kNever;
  return outcome;
}

void IdleLine::leave() {
  const std::string node = place_.held().node;
  if (!place_.release(withdrawal_budget(session_))) left_ = node;
  place_.forget();
}

// The delete is sent here, so that this goes on while we do not stand in line.
void IdleLine::decide() {
  if (left_.empty()) return;
  if (session_.expired()) return forget();
  if (leaving_ && leaving_->done) {
    const Code code = leaving_->answer.code;
    if (code == Code::ok || code == Code::no_node) return forget();
    if (code == Code::unknown || code == Code::expired) leaving_.reset();
  }
  if (!leaving_ && session_.connected()) leaving_ = session_.client().remove(left_);
}

// Returns nothing once no place of ours is left.
std::optional<IdleEnd> IdleLine::wait_until_left(const WaitPolicy& patience) {
  while (!left_.empty()) {
    if (leaving_ && leaving_->done && leaving_->answer.code != Code::unknown) {
      throw zk::failure_of("cannot leave the line at " + layout_.queue, leaving_->answer);
    }
    if (patience.disturbed && patience.disturbed()) return IdleEnd::disturbed;
    if (left_until(patience.until) == Duration::zero()) return IdleEnd::timeout;
    session_.turn(patience.until);
  }
  session_.check_alive();
  return std::nullopt;
}

void IdleLine::forget() {
  place_.forget();
  connections_ = 0;
  left_.clear();
  leaving_.reset();
  found_.clear();
  place_watch_.reset();
  items_watch_.reset();
  segment_watches_.clear();
}

// To be called when we are the first in line.
IdleEnd IdleLine::wait_in_line(const WaitPolicy& patience, bool end_if_empty) {
  consumer_.remember_work();
  for (;;) {
    if (const auto end = look(end_if_empty)) return *end;
    if (!watch()) continue;
    if (const auto end = sleep(patience, end_if_empty)) return *end;
  }
}

// Takes an item and leaves the line. Returns nothing if there was no item to take.
std::optional<IdleEnd> IdleLine::look(bool end_if_empty) {
  const std::string place = place_.held().node;
  // A single item is claimed at once: the transaction fails if our place is gone.
  if (found_.size() != 1 && session_.read(place).code == Code::no_node) return IdleEnd::removed;
  const std::vector<zk::Step> leaving{{zk::Step::Kind::remove, place}};
  bool begun = consumer_.begin_among(std::exchange(found_, {}), leaving);
  while (begun || consumer_.begin(1, leaving)) {
    items_ = consumer_.collect();
    if (!items_.empty()) return IdleEnd::taken;
    // We have left the line for nothing, or another consumer was faster, or our place is gone.
    if (consumer_.gave_back()) return IdleEnd::disturbed;
    if (session_.read(place).code == Code::no_node) return IdleEnd::removed;
    begun = false;
  }
  if (end_if_empty && !consumer_.some_in_work()) return IdleEnd::nothing;
  return std::nullopt;
}

// Watches everything that may bring an item and is not watched yet. Returns false if some of it has changed since we
// looked.
bool IdleLine::watch() {
  if (!stands(place_watch_)) {
    place_watch_ = std::make_shared<zk::WatchState>();
    if (session_.read(place_.held().node, place_watch_).code == Code::no_node) return false;
  }
  std::erase_if(segment_watches_, [](const auto& watched) { return watched.second->fired; });
  room_taken_ = consumer_.in_work().watched_size(overhead());
  for (const auto& [path, watch] : segment_watches_) room_taken_ += path.size() + overhead();
  const bool listed = !stands(items_watch_);
  if (listed) list_segments();
  return watch_open(listed) && watch_items();
}

void IdleLine::list_segments() {
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
bool IdleLine::watch_open(bool check_all) {
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
bool IdleLine::take_note(const std::string& segment, const std::vector<std::string>& names) {
  const size_t before = found_.size();
  for (const ItemName& item : items_of(names)) {
    std::string path = segment + "/" + item.name;
    if (!consumer_.accounts_for(path)) found_.push_back(std::move(path));
  }
  return found_.size() == before;
}

// When a claim goes, only its item's list of children changes, so each item needs a watch.
bool IdleLine::watch_items() {
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
    const bool claimed = looks[i].code == Code::ok && !looks[i].names.empty();
    claimed ? in_work.note(path, watch) : in_work.forget(path);
    if (looks[i].code == Code::ok && !claimed) found_.push_back(path);
    all_in_work &= claimed;
    ++i;
  }
  return all_in_work;
}

// Returns how many bytes a path takes, besides its own, in the packet that sets the watches again: the chroot and the
// length.
size_t IdleLine::overhead() const {
  return session_.options().servers.chroot.size() + sizeof(int32_t);
}

bool IdleLine::take_room(const std::string& path, size_t limit) {
  const size_t size = path.size() + overhead();
  if (room_taken_ + size > limit) return false;
  room_taken_ += size;
  return true;
}

// Returns nothing if it is worth looking again.
std::optional<IdleEnd> IdleLine::sleep(const WaitPolicy& patience, bool end_if_empty) {
  const Holder nobody;
  do {
    std::vector<zk::Watch> watches = consumer_.in_work().watches();
    watches.push_back(place_watch_);
    watches.push_back(items_watch_);
    for (const auto& [path, watch] : segment_watches_) watches.push_back(watch);
    WaitPolicy nap = patience;
    nap.until = std::min(patience.until, next_poll());
    const auto outcome = wait_for_change(session_, watches, nap, *this, [&]() -> const Holder& { return nobody; });
    const bool polls = outcome == Outcome::busy && left_until(patience.until) > Duration::zero();
    if (outcome && !polls) return end_of(*outcome);
    if (polls && blind_) return std::nullopt;
  } while (look_at_known(end_if_empty));
  return std::nullopt;
}

Deadline IdleLine::next_poll() const {
  if (blind_) return deadline_in(kBlindPause);
  const Deadline due = consumer_.in_work().next_due();
  return due == kNever ? kNever : std::max(due, deadline_in(kPause));
}

// Returns false if an item that was in work is free, if there is something new, or if nothing is left and
// `end_if_empty`.
bool IdleLine::look_at_known(bool end_if_empty) {
  InWork& in_work = consumer_.in_work();
  for (std::string& path : consumer_.those_free(in_work.due(kMostAtOnce))) found_.push_back(std::move(path));
  if (!found_.empty() || (end_if_empty && in_work.empty())) return false;
  return watch();
}

}  // namespace zklock::recipe
