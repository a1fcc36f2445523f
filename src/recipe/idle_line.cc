// SPDX-License-Identifier: Apache-2.0
#include "recipe/idle_line.h"

#include "recipe/wait.h"
#include "zk/batch.h"

namespace zklock::recipe {

using zk::Answer;
using zk::Code;

namespace {

IdleLine::End end_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::removed:
      return IdleLine::End::removed;
    case Outcome::expired:
      return IdleLine::End::expired;
    case Outcome::disturbed:
      return IdleLine::End::disturbed;
    case Outcome::held:
    case Outcome::busy:
      break;
  }
  return IdleLine::End::timeout;
}

}  // namespace

IdleLine::IdleLine(host::Loop& loop, zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer)
    : session_(session),
      layout_(std::move(layout)),
      consumer_(consumer),
      place_(session, layout_.waiting(), *this, std::move(note), "cannot wait at " + layout_.queue),
      leaving_behind_(loop, *this) {}

IdleLine::End IdleLine::wait(const Patience& patience, bool end_if_empty) {
  if (const auto end = wait_until_left(patience)) return *end;
  try {
    const Outcome outcome = place_.acquire(patience);
    const End end = outcome == Outcome::held ? wait_in_line(patience, end_if_empty) : end_of(outcome);
    // It went with the transaction that took the item, or with the session.
    if (end == End::taken || end == End::expired) place_.forget();
    leave();
    return end;
  } catch (...) {
    leave();
    throw;
  }
}

void IdleLine::leave() {
  const std::string node = place_.held().node;
  if (!place_.release(withdrawal_budget(session_))) left_ = node;
  place_.forget();
}

// Here, so that it happens also while nobody stands in line.
void IdleLine::decide() {
  if (left_.empty()) return;
  if (session_.expired()) return forget();
  if (leaving_ && leaving_->done) {
    const Code code = leaving_->answer.code;
    if (code == Code::ok || code == Code::no_node) return forget();
    if (code == Code::unknown) leaving_.reset();
  }
  if (!leaving_ && session_.connected()) leaving_ = session_.client().remove(left_);
}

// Nothing: no place of ours is left.
std::optional<IdleLine::End> IdleLine::wait_until_left(const Patience& patience) {
  while (!left_.empty()) {
    if (leaving_ && leaving_->done && leaving_->answer.code != Code::unknown) {
      throw zk::failure_of("cannot leave the line at " + layout_.queue, leaving_->answer);
    }
    if (patience.disturbed && patience.disturbed()) return End::disturbed;
    if (left_until(patience.until) == Duration::zero()) return End::timeout;
    session_.turn(patience.until);
  }
  if (session_.expired()) return End::expired;
  return std::nullopt;
}

void IdleLine::forget() {
  place_.forget();
  left_.clear();
  leaving_.reset();
}

// We are the first.
IdleLine::End IdleLine::wait_in_line(const Patience& patience, bool end_if_empty) {
  for (;;) {
    if (const auto end = look(end_if_empty)) return *end;
    const auto changed = std::make_shared<zk::WatchState>();
    if (!watch(changed, end_if_empty)) continue;
    const Holder nobody;
    const auto outcome =
        wait_for_change(session_, {changed}, patience, *this, [&]() -> const Holder& { return nobody; });
    if (outcome) return end_of(*outcome);
  }
}

// Nothing: there was nothing to take.
std::optional<IdleLine::End> IdleLine::look(bool end_if_empty) {
  const std::string place = place_.held().node;
  if (session_.read(place, kNever).code == Code::no_node) return End::removed;
  while (consumer_.begin(1, kNever, {{zk::Step::Kind::remove, place}})) {
    items_ = consumer_.collect(kNever);
    if (!items_.empty()) return End::taken;
    // Somebody was faster, or our place is gone.
    if (session_.read(place, kNever).code == Code::no_node) return End::removed;
  }
  if (session_.expired()) return End::expired;
  if (end_if_empty && !consumer_.some_in_work()) return End::nothing;
  return std::nullopt;
}

// Everything that may bring an item. False if some of it has changed since we looked.
bool IdleLine::watch(const zk::Watch& watch, bool end_if_empty) {
  if (session_.read(place_.held().node, kNever, watch).code == Code::no_node) return false;
  const Answer list = zk::children_all(session_, {layout_.items()}, kNever, watch).front();
  if (list.code == Code::no_node) {
    throw Failure(ExitStatus::bad_data, "cannot wait at " + layout_.queue + ": the queue was deleted");
  }
  std::vector<std::string> segments;
  for (const Segment& segment : segments_of(list.names)) segments.push_back(segment_path(layout_.items(), segment));
  // Into a sealed one comes nothing.
  std::vector<std::string> open;
  const std::vector<Answer> looks = zk::stat_all(session_, segments, kNever);
  for (size_t i = 0; i < segments.size(); ++i) {
    if (looks[i].code == Code::ok && !is_sealed(looks[i].stat)) open.push_back(segments[i]);
  }
  zk::children_all(session_, open, kNever, watch);
  return watch_items(segments, watch, end_if_empty);
}

// A claim that goes changes nothing but its item.
bool IdleLine::watch_items(const std::vector<std::string>& segments, const zk::Watch& watch, bool end_if_empty) {
  const std::vector<Answer> lists = zk::children_all(session_, segments, kNever);
  bool some = false;
  for (size_t i = 0; i < segments.size(); ++i) {
    std::vector<std::string> items;
    for (const ItemName& item : items_of(lists[i].names)) items.push_back(segments[i] + "/" + item.name);
    some |= !items.empty();
    for (const Answer& answer : zk::children_all(session_, items, kNever, watch)) {
      if (answer.code == Code::no_node || (answer.code == Code::ok && answer.names.empty())) return false;
    }
  }
  // The last one may have been done before there was a watch on it.
  return !watch->fired && (some || !end_if_empty);
}

}  // namespace zklock::recipe
