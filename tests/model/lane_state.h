// SPDX-License-Identifier: Apache-2.0
// The queue of lane_model.cc, and the steps of its transactions that several programs have.
#pragma once

#include "checker.h"

#include <algorithm>
#include <array>

namespace zklock::model::lane {

constexpr uint8_t kNone = 255;
constexpr uint8_t kPurge = 2;  // as the owner of a claim, after the consumers 0 and 1
constexpr uint8_t kOld = 2;    // in the idle line, after the consumers
constexpr size_t kAdmin = 4;   // actors: consumers A, B; pushers C, D; the administrator E
constexpr size_t kItems = 4;

enum Push : uint8_t { to_come, sent_to_lane, sent_with_lane, doubtful, in, dropped };
enum Life : uint8_t { outside, live, ended, dead, by_hand };  // ended: done, or purged

struct Item {
  uint8_t push, life, key, segment;
  uint8_t requeued;
  uint8_t number;  // in its name: only in a mutant
};

struct Lane {
  uint8_t exists, turns;
  uint8_t first_segment, open_segment;
  uint8_t counter;                    // for the numbers of items: only in a mutant
  std::array<uint8_t, kItems> order;  // its items
  uint8_t due_in;                     // the turn rests until the time has passed so often
  uint8_t owner;                      // of the claim
  uint8_t made;                       // how often the turn was claimed: 0, 1, 2 for more
  uint8_t taken_back;                 // an attempt was: only in a mutant
  uint8_t rest;                       // of the key, not a node: the gap since its last command
};

enum Phase : uint8_t {
  looking,
  peeked,  // only in a mutant
  claim_lost,
  waiting,  // for the end of the gap after our claim
  working,
  removing,  // done
  burying,   // dead letter
  returning,
  releasing,
  emptying,  // "lane empty"
  ack_lost,
  standing,  // in the idle line
};

struct Consumer {
  uint8_t phase, key, item;
  uint8_t ack;      // whose answer was lost
  uint8_t wait;     // for the end of the gap after the claim
  uint8_t missing;  // the item is: the ack goes without it
};

enum Task : uint8_t { idle, requeues_to_lane, requeues_with_lane, looks, deletes, ends_claim, deletes_others };

struct Admin {
  uint8_t task, key;
  uint8_t item;  // to be requeued, or the first one
  std::array<uint8_t, kItems> listed;
};

struct Pusher {
  uint8_t marker, recovering;
  uint8_t careful;  // one batch in flight, after a refusal
};

enum class Mutant {
  none,
  each_push,
  lane_alone,
  ack_alone,
  list_first,
  last_item,
  killed_at_once,
  attempts,
  no_rest,
  no_marker,
  unchained,
  blind,
  unchecked_purge,
  purge_ends_gap,
  purge_by_lane,
  empty_at_once,
  empty_segment,
  ack_loops,
  uncounted,
  delete_resting,
  behind_old,
  old_token
};

enum Error : uint8_t { fine, out_of_order, too_soon, twice, lost, blocked };
constexpr std::array<const char*, 6> kErrors = {nullptr,
                                                "items of a key are out of order",
                                                "a command starts within the gap",
                                                "an item is in twice",
                                                "a queue with items is deleted",
                                                "an item cannot end, because a letter has its name"};

struct State {
  std::array<Item, kItems> items;
  std::array<Lane, 2> lanes;
  std::array<Consumer, 2> consumers;
  std::array<Pusher, 2> pushers;
  Admin admin;
  std::array<uint8_t, 3> line;
  uint8_t gap;    // 1: consumers have --gap
  uint8_t count;  // in - out
  uint8_t begun, luck, deleted, error;
};

constexpr Consumer kIdle = {looking, 0, kNone, 0, 0, 0};

inline void clear(Lane& lane) {
  const uint8_t rest = lane.rest;
  lane = {};
  lane.order.fill(kNone);
  lane.owner = kNone;
  lane.rest = rest;
}
// The open segment is the first again.
inline void forget_segment(State& s, Lane& lane) {
  lane.first_segment = lane.open_segment = 0;
  for (const uint8_t item : lane.order) {
    if (item != kNone) s.items[item].segment = 0;
  }
}
inline bool spend(State& s) {
  if (s.luck == 0) return false;
  --s.luck;
  return true;
}
inline size_t pusher_of(size_t item) {
  return item / 2;
}

inline bool has_ended(const State& s, size_t who) {
  return s.items[2 * who].push >= in && s.items[2 * who + 1].push >= in;
}

inline bool is_free(const Lane& lane) {
  return lane.turns > 0 && lane.owner == kNone && lane.due_in == 0;
}

inline void leave_line(State& s, uint8_t who) {
  *std::remove(s.line.begin(), s.line.end(), who) = kNone;
}

// Returns false if the transaction is refused.
inline bool put(State& s, size_t i, bool with_lane, Mutant mutant) {
  Item& item = s.items[i];
  Lane& lane = s.lanes[item.key];
  if (mutant == Mutant::blind && !lane.exists && !with_lane) {
    clear(lane);
    lane.exists = 1;
  }
  if (lane.exists == with_lane) return false;
  if (with_lane) {
    clear(lane);
    lane.exists = 1;
    lane.turns = mutant != Mutant::lane_alone;
  }
  if (mutant == Mutant::each_push && !with_lane) ++lane.turns;
  if (item.life != outside && item.life != dead) s.error = twice;
  for (size_t j = 2 * pusher_of(i); j < i; ++j) {
    if (s.items[j].key == item.key && s.items[j].life == outside) s.error = out_of_order;
  }
  item.life = live;
  item.number = lane.counter++;
  item.segment = lane.open_segment;
  *std::find(lane.order.begin(), lane.order.end(), kNone) = static_cast<uint8_t>(i);
  ++s.count;
  return true;
}

inline void take_out(State& s, uint8_t i, Life life) {
  auto& order = s.lanes[s.items[i].key].order;
  *std::remove(order.begin(), order.end(), i) = kNone;
  s.items[i].life = life;
  s.items[i].segment = 0;
  if (life != by_hand) --s.count;
}

inline void claim_turn(Lane& lane, uint8_t owner) {
  lane.owner = owner;
  lane.made = std::min<uint8_t>(2, lane.made + 1);
}

}  // namespace zklock::model::lane
