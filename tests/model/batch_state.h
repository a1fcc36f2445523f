// SPDX-License-Identifier: Apache-2.0
// The nodes of batch_model.cc, and what its programs know.
#pragma once

#include "checker.h"

#include <algorithm>
#include <array>

namespace zklock::model::batch {

enum ItemState : uint8_t { to_come, waiting, claimed, dead, done, purged };
enum BatchStatus : uint8_t { unsent, sent, in, refused, doubtful, taken_in };  // in, refused: its answer is on its way
enum Phase : uint8_t {
  making,
  make_lost,
  pushing,
  recovering,  // reads the marker behind a barrier
  renewing,
  reading_done,
  reading_dead,
  reading_purged,
  reading_back,
  sleeping,
  cleaning_up,
  over,
  killed,
};
enum ConsumerPhase : uint8_t {
  looking,
  working,
  acking,
  ack_lost,  // Acks::find_out
  counting,  // only in a mutant
  dead_consumer,
};
enum Error : uint8_t { fine, not_all_done, some_left, left_alone, under_waiter, unlearned, twice };

constexpr uint8_t kItems = 2;  // and as many batches

// All fields but the state are 0 unless they matter, so that tidy() can sort the items.
struct Item {
  uint8_t state;
  uint8_t worker;  // counted from 0
  uint8_t untagged;

  auto operator<=>(const Item&) const = default;
};

struct Consumer {
  uint8_t phase, expired;
  uint8_t ack;   // what the item becomes: done or dead
  uint8_t bare;  // the ack goes without the counter
};

struct Counters {
  uint8_t there;
  uint8_t done, dead, purged, back;
};

struct Waiter {
  std::array<uint8_t, kItems> batches;  // their status
  uint8_t phase, expired;
  uint8_t made;     // it knows that its batch was made
  uint8_t watches;  // bits: done, dead, purged
  uint8_t woken;
  Counters read;
  Counters view;  // what its server knows
  uint8_t quiet;  // no item was left in the state that its server knows
};

struct Sweeper {
  uint8_t sweeping, marker, back;  // the versions read
};

struct State {
  std::array<Item, kItems + 1> items;  // one more than there are: for a double
  std::array<Consumer, 2> consumers;
  Waiter waiter;
  Sweeper sweeper;
  Counters batch;
  uint8_t marker;                    // its version, and its data
  uint8_t ephemeral;                 // pushing/T is there
  uint8_t old;                       // nothing has been written to the batch for a day
  uint8_t excused;                   // the batch may be gone: the pusher was away for a day, or a person deleted it
  uint8_t deleted;                   // the queue
  uint8_t faults, wishes, failures;  // how many may still come
  uint8_t error;
};

inline bool is_left(const Item& item) {
  return item.state == waiting || item.state == claimed;
}
inline bool any_left(const State& s, bool tagged) {
  const auto left = [&](const Item& item) { return is_left(item) && !(tagged && item.untagged); };
  return std::any_of(s.items.begin(), s.items.end(), left);
}
inline void write(State& s, uint8_t Counters::*counter) {
  ++(s.batch.*counter);
  s.old = 0;
}

// A deletion by a person does not come through here: it may do harm.
inline void delete_batch(State& s, bool by_waiter) {
  const Waiter& w = s.waiter;
  const bool at_work = w.phase >= pushing && w.phase <= sleeping && w.phase != renewing && !w.expired;
  if (at_work && !by_waiter) s.error = under_waiter;
  if (any_left(s, true)) s.error = left_alone;
  s.batch = {};
  s.marker = s.old = 0;
}

inline int left_of(const Counters& read, size_t items) {
  return static_cast<int>(items) - read.done - read.dead - read.purged + read.back;
}

// Brings the waiter's server up to date. The server then sends the events.
inline void catch_up(State& s) {
  Waiter& w = s.waiter;
  const Counters& is = s.batch;
  const Counters& was = w.view;
  const int changed = (is.done != was.done ? 1 : 0) | (is.dead != was.dead ? 2 : 0) |
                      (is.purged != was.purged ? 4 : 0) | (is.there != was.there ? 7 : 0);
  if ((changed & w.watches) != 0) w.woken = 1;
  w.watches &= static_cast<uint8_t>(~changed);
  w.view = s.batch;
  w.quiet = !any_left(s, false);
}

inline bool is_unanswered(uint8_t status) {
  return status >= sent && status <= refused;
}

inline void forget_answers(Waiter& w) {
  for (uint8_t& status : w.batches) status = is_unanswered(status) ? uint8_t{doubtful} : status;
}

inline void end_session(State& s, size_t who) {
  s.consumers[who].expired = 1;
  for (Item& item : s.items) {
    if (item.state == claimed && item.worker == who) item = {waiting, 0, item.untagged};
  }
}

// Returns the item that it has claimed; null: none.
inline Item* item_of(State& s, size_t who) {
  const auto ours = [&](const Item& i) { return i.state == claimed && i.worker == who; };
  const auto at = std::find_if(s.items.begin(), s.items.end(), ours);
  return at == s.items.end() ? nullptr : &*at;
}

inline uint8_t Counters::*counter_of(const Consumer& c) {
  return c.ack == dead ? &Counters::dead : &Counters::done;
}

}  // namespace zklock::model::batch
