// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/idle_line.h"

#include "recipe/queue/in_work.h"
#include "zk/session.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Code;

namespace {

constexpr int kNaps = 6;  // in a session timeout

}  // namespace

IdleLine::IdleLine(host::Loop& loop, zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer)
    : session_(session),
      layout_(std::move(layout)),
      consumer_(consumer),
      place_(session, {layout_.waiting()}, std::nullopt, std::move(note), *this, "cannot wait at " + layout_.queue),
      watch_(session, layout_, consumer),
      leaving_behind_(loop, *this) {}

Outcome IdleLine::wait(const WaitPolicy& patience, bool end_if_empty) {
  items_.clear();
  if (const auto end = wait_until_left(patience)) return *end;
  try {
    place_watch_.reset();
    Outcome end = stand_in_line(patience, end_if_empty);
    if (end == Outcome::held) end = wait_in_line(patience, end_if_empty);
    // Our place went with the transaction that took the item.
    if (!items_.empty()) place_.forget();
    leave();
    return end;
  } catch (const Failure& failure) {
    leave();
    // The wait has ended between a request and its answer.
    if (failure.status() == ExitStatus::busy && left_until(patience.until) == Duration::zero()) return Outcome::busy;
    throw;
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

// Only the first in line sees that the queue is empty, and it may be a consumer that stays.
Outcome IdleLine::stand_in_line(const WaitPolicy& patience, bool end_if_empty) {
  const bool naps = in_doubt() || end_if_empty;
  nap_until_ = naps ? deadline_in(session_.timeout() / kNaps) : kNever;
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
  if (removing_ && removing_->done) {
    const Code code = removing_->answer.code;
    if (code == Code::ok || code == Code::no_node) return forget();
    if (code == Code::unknown || code == Code::expired) removing_.reset();
  }
  const bool may_send = session_.connected() && BootClock::now() >= session_.client().again_at();
  if (!removing_ && may_send) removing_ = session_.client().remove(left_);
}

// Returns nothing once no place of ours is left.
std::optional<Outcome> IdleLine::wait_until_left(const WaitPolicy& patience) {
  while (!left_.empty()) {
    if (removing_ && removing_->done && removing_->answer.code != Code::unknown) {
      throw zk::failure_of("cannot leave the line at " + layout_.queue, removing_->answer);
    }
    if (patience.disturbed && patience.disturbed()) return Outcome::disturbed;
    if (left_until(patience.until) == Duration::zero()) return Outcome::busy;
    session_.turn(patience.until);
  }
  session_.check_alive();
  return std::nullopt;
}

void IdleLine::forget() {
  place_.forget();
  connections_ = 0;
  left_.clear();
  removing_.reset();
  place_watch_.reset();
  watch_.forget();
}

// To be called when we are the first in line.
Outcome IdleLine::wait_in_line(const WaitPolicy& patience, bool end_if_empty) {
  consumer_.remember_work();
  for (;;) {
    if (const auto end = look(end_if_empty)) return *end;
    if (!watch()) continue;
    // The look has found only what is left out from now on.
    if (end_if_empty && consumer_.in_work().empty()) continue;
    if (const auto end = sleep(patience, end_if_empty)) return *end;
  }
}

// Takes an item and leaves the line, or returns `held` without items. Returns nothing if there was no item to take.
std::optional<Outcome> IdleLine::look(bool end_if_empty) {
  const std::string place = place_.held().node;
  const std::vector<std::string> found = watch_.take_found();
  // A single item is claimed at once: the transaction fails if our place is gone.
  if (found.size() != 1 && session_.read(place).code == Code::no_node) return Outcome::removed;
  const std::vector<zk::Step> leaving{{zk::Step::Kind::remove, place}};
  bool begun = consumer_.begin_among(found, leaving);
  while (begun || consumer_.begin(1, leaving)) {
    items_ = consumer_.collect();
    if (!items_.empty()) return Outcome::held;
    // We have left the line for nothing, or another consumer was faster, or our place is gone.
    if (consumer_.gave_back()) return Outcome::disturbed;
    if (session_.read(place).code == Code::no_node) return Outcome::removed;
    begun = false;
  }
  if (end_if_empty && !consumer_.some_in_work()) return Outcome::held;
  return std::nullopt;
}

// Watches our place and everything that may bring an item. Returns false if some of it has changed since we looked.
bool IdleLine::watch() {
  if (!stands(place_watch_)) {
    place_watch_ = std::make_shared<zk::WatchState>();
    if (session_.read(place_.held().node, place_watch_).code == Code::no_node) return false;
  }
  return watch_.watch();
}

// Returns nothing if it is worth looking again.
std::optional<Outcome> IdleLine::sleep(const WaitPolicy& patience, bool end_if_empty) {
  const Holder nobody;
  do {
    std::vector<zk::Watch> watches = watch_.watches();
    watches.push_back(place_watch_);
    WaitPolicy nap = patience;
    nap.until = std::min(patience.until, watch_.next_poll());
    const auto outcome = wait_for_change(session_, watches, nap, *this, [&]() -> const Holder& { return nobody; });
    const bool polls = outcome == Outcome::busy && left_until(patience.until) > Duration::zero();
    if (outcome && !polls) return outcome;
    if (polls && watch_.is_blind()) return std::nullopt;
  } while (look_at_known(end_if_empty));
  return std::nullopt;
}

// Returns false if an item that was in work is free, if there is something new, or if nothing is left and
// `end_if_empty`.
bool IdleLine::look_at_known(bool end_if_empty) {
  if (!watch_.look_at_due() || (end_if_empty && consumer_.in_work().empty())) return false;
  return watch();
}

}  // namespace zklock::recipe
