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

IdleLine::IdleLine(zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer)
    : session_(session),
      layout_(std::move(layout)),
      consumer_(consumer),
      place_(session, layout_.waiting(), *this, std::move(note), "cannot wait at " + layout_.queue) {}

IdleLine::End IdleLine::wait(const Patience& patience, bool end_if_empty) {
  const Outcome outcome = place_.acquire(patience);
  if (outcome != Outcome::held) return end_of(outcome);
  try {
    const End end = wait_in_line(patience, end_if_empty);
    // It went with the transaction that took the item, or with the session.
    if (end == End::taken || end == End::expired) place_.forget();
    place_.release(withdrawal_budget(session_));
    return end;
  } catch (...) {
    place_.release(withdrawal_budget(session_));
    throw;
  }
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
