// SPDX-License-Identifier: Apache-2.0
// The queue of queue_model.cc: items, claims, and the line of idle consumers.
#pragma once

#include "checker.h"

#include <algorithm>
#include <array>

namespace zklock::model::queue {

enum Phase : uint8_t {
  looking,       // it looks for an item: Consumer::begin
  claiming,      // Consumer::send
  claim_lost,    // Consumer::find_out
  working,       // the command runs, or the item is being written
  removing,      // Acks, Ack::done
  removal_lost,  // Acks::find_out
  returning,     // Ack::retry
  return_lost,
  entering,  // the idle line: IdleLine::wait, ProtectedNode::make
  entry_lost,
  in_line,      // listed
  standing,     // behind another, with a watch on it
  first_looks,  // IdleLine::look
  taking,       // claims, and leaves the line
  taking_lost,
  sets_watches,  // IdleLine::watch
  sleeping,
  leaving,  // it leaves the line, to look after something else
  killed,
};

enum ItemState : uint8_t { to_come, unclaimed, claimed, gone };
enum PlaceBits : uint8_t { exists = 1, second = 2, session_lives = 4, last_attempt = 8 };
constexpr uint8_t kNone = 255;
constexpr uint8_t kLeftBehind = 2;  // added to a consumer: its last session, which it left without an answer

struct Item {
  uint8_t state, owner;
  uint8_t times;   // how often it was done
  uint8_t warned;  // reported as possibly done again
};

struct Consumer {
  uint8_t phase, item;
  uint8_t expired;  // the session has expired, whether it knows or not
  uint8_t woken;
  uint8_t before;  // the place that it waits for
};

struct State {
  std::array<Item, 2> items;
  std::array<Consumer, 2> consumers;
  std::array<uint8_t, 5> places;  // in the order of their numbers
  uint8_t losses, expiries, disturbances, failures, kills, overflow;
};

inline size_t owner_of(uint8_t place) {
  return place & second ? 1 : 0;
}

inline uint8_t own_place(const State& s, size_t who) {
  constexpr uint8_t kOwn = exists | session_lives | last_attempt;
  for (uint8_t i = 0; i < s.places.size(); ++i) {
    if ((s.places[i] & kOwn) == kOwn && owner_of(s.places[i]) == who) return i;
  }
  return kNone;
}

inline void enter(State& s, size_t who) {
  for (uint8_t& place : s.places) {
    if (place && owner_of(place) == who) place &= static_cast<uint8_t>(~last_attempt);
  }
  const auto free = std::find(s.places.begin(), s.places.end(), uint8_t{0});
  s.overflow = free == s.places.end();
  if (!s.overflow) *free = static_cast<uint8_t>(exists | (who ? second : 0) | session_lives | last_attempt);
}

// Consumers behind it learn of it by their watches.
inline void remove_place(State& s, uint8_t at) {
  if (at == kNone) return;
  for (size_t i = at; i + 1 < s.places.size(); ++i) s.places[i] = s.places[i + 1];
  s.places.back() = 0;
  for (Consumer& c : s.consumers) {
    if (c.before == at) c.before = kNone;
    if (c.before != kNone && c.before > at) --c.before;
  }
}

inline void release(State& s, Item& item, bool noticed) {
  item.state = unclaimed;
  item.owner = 0;
  for (Consumer& c : s.consumers) c.woken |= c.phase == sleeping && noticed;
}

// `noticed`: sleeping consumers have a watch on items in work.
inline void end_session(State& s, size_t who, bool left_behind, bool noticed) {
  for (Item& item : s.items) {
    if (item.state == claimed && item.owner == who + (left_behind ? kLeftBehind : 0)) release(s, item, noticed);
  }
  for (uint8_t i = 0; i < s.places.size();) {
    const bool of_it = s.places[i] && owner_of(s.places[i]) == who && !(s.places[i] & session_lives) == left_behind;
    if (of_it) {
      remove_place(s, i);
    } else {
      ++i;
    }
  }
}

// Opens another session; the one before is not known to be over.
inline void leave_session(State& s, size_t who) {
  for (Item& item : s.items) {
    if (item.state == claimed && item.owner == who) item.owner = static_cast<uint8_t>(who + kLeftBehind);
  }
  for (uint8_t& place : s.places) {
    if (place && owner_of(place) == who) place &= static_cast<uint8_t>(~(session_lives | last_attempt));
  }
}

inline bool is_left_behind(const State& s, size_t who) {
  const auto claim = [&](const Item& item) { return item.state == claimed && item.owner == who + kLeftBehind; };
  const auto place = [&](uint8_t p) { return p && owner_of(p) == who && !(p & session_lives); };
  return std::any_of(s.items.begin(), s.items.end(), claim) || std::any_of(s.places.begin(), s.places.end(), place);
}

inline uint8_t first_unclaimed(const State& s) {
  for (uint8_t i = 0; i < s.items.size(); ++i) {
    if (s.items[i].state == unclaimed) return i;
  }
  return kNone;
}

}  // namespace zklock::model::queue
