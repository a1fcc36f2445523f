// SPDX-License-Identifier: Apache-2.0
// What a consumer of queue_model.cc does with items.
#pragma once

#include "queue_state.h"

namespace zklock::model::queue {

inline void go(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
  next.consumers[who].phase = phase;
  out.move(next, who, what);
}

// `done` is the state if it was done before its answer was lost.
inline void lose(State s, State done, size_t who, Phase phase, Steps<State>& out) {
  if (s.losses == 0) return;
  for (State* next : {&s, &done}) {
    --next->losses;
    next->consumers[who].phase = phase;
  }
  out.chance(s, who, "the request is lost");
  out.chance(done, who, "the request is done, its answer is lost");
}

// Passes over the queue, behind a check.
inline void look(State next, size_t who, Phase found, Phase nothing, Steps<State>& out) {
  const uint8_t item = next.consumers[who].item = first_unclaimed(next);
  go(next, who, item == kNone ? nothing : found, out, item == kNone ? "finds no item" : "finds an item");
}

// Consumer::begin: the first item of a list is claimed without a look, so it may be in work.
inline void claim_first(State next, size_t who, Steps<State>& out) {
  const auto in_work = [](const Item& item) { return item.state == claimed; };
  const auto item = std::find_if(next.items.begin(), next.items.end(), in_work);
  if (item == next.items.end()) return;
  next.consumers[who].item = static_cast<uint8_t>(item - next.items.begin());
  go(next, who, claiming, out, "claims an item that is in work");
}

// `taking`: claims in one transaction with the end of our place.
inline void claim(const State& s, size_t who, Steps<State>& out) {
  const Consumer& c = s.consumers[who];
  const bool idle = c.phase == taking;
  State done = s;
  Item& item = done.items[c.item];
  if (item.state != unclaimed) return go(s, who, idle ? first_looks : looking, out, "somebody was faster");
  item.state = claimed;
  item.owner = static_cast<uint8_t>(who);
  if (idle) remove_place(done, own_place(done, who));
  go(done, who, working, out, "claims the item");
  lose(s, done, who, idle ? taking_lost : claim_lost, out);
}

// Ends a command with success, or without.
inline void work(State next, size_t who, Steps<State>& out) {
  Item& item = next.items[next.consumers[who].item];
  if (next.failures > 0) {
    --next.failures;
    next.consumers[who].phase = returning;
    out.chance(next, who, "its command fails");
    ++next.failures;
  }
  ++item.times;
  go(next, who, removing, out, "does the item");
}

// Acks::transact: the claim's delete fails if there is none; it cannot tell whose it is.
inline void ack(const State& s, size_t who, Steps<State>& out) {
  const bool removes = s.consumers[who].phase == removing;
  State done = s;
  Item& item = done.items[s.consumers[who].item];
  if (item.state != claimed) return go(s, who, removes ? removal_lost : return_lost, out, "finds no claim");
  item.owner = 0;
  item.state = gone;
  if (!removes) release(done, item, true);
  State over = done;
  over.consumers[who].item = kNone;
  go(over, who, looking, out, removes ? "removes the item" : "gives the item back");
  lose(s, done, who, removes ? removal_lost : return_lost, out);
}

// Acks::find_out.
inline void find_item(State s, size_t who, Steps<State>& out) {
  Consumer& c = s.consumers[who];
  const bool removes = c.phase == removal_lost;
  Item& item = s.items[c.item];
  const bool ours = item.state == claimed && item.owner == who;
  if (ours) return go(s, who, removes ? removing : returning, out, "finds its claim");
  if (removes && item.state != gone) item.warned = 1;
  c.item = kNone;
  go(s, who, looking, out, "finds that it is over");
}

}  // namespace zklock::model::queue
