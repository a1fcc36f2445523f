// SPDX-License-Identifier: Apache-2.0
// The pushers of lane_model.cc: Pusher::send, settle and recover in src/recipe/queue/pusher.cc, with lanes.
#pragma once

#include "lane_state.h"

namespace zklock::model::lane {

class Pushers {
 public:
  explicit Pushers(Mutant mutant) : mutant_(mutant) {}

  void steps(const State& s, size_t who, Steps<State>& out) const {
    send(s, who, out);
    process(s, who, out);
    recover(s, who, out);
    lose_pusher(s, who, out);
  }

 private:
  static bool is_sent(uint8_t push) { return push == sent_to_lane || push == sent_with_lane; }

  // A pusher remembers the lanes that it has seen, also when they are gone.
  static void send(State s, size_t who, Steps<State>& out) {
    const Pusher& p = s.pushers[who];
    Item* const items = &s.items[2 * who];
    const size_t i = items[0].push == to_come ? 0 : 1;
    if (p.recovering || items[i].push != to_come || (i == 1 && p.careful && is_sent(items[0].push))) return;
    const bool remembers = i == 1 && !p.careful && items[0].key == items[1].key && items[0].push != dropped;
    const bool seen = s.lanes[items[i].key].exists || remembers;
    items[i].push = seen ? sent_to_lane : sent_with_lane;
    out.move(s, 2 + who, seen ? "sends an item to a lane" : "sends an item with its lane");
  }

  void process(State s, size_t who, Steps<State>& out) const {
    const size_t i = is_sent(s.items[2 * who].push) ? 2 * who : 2 * who + 1;
    Item& item = s.items[i];
    if (!is_sent(item.push)) return;
    Pusher& p = s.pushers[who];
    const bool chained = p.marker == i % 2 || mutant_ == Mutant::unchained || mutant_ == Mutant::no_marker;
    const bool is_in = chained && put(s, i, item.push == sent_with_lane, mutant_);
    p.marker = static_cast<uint8_t>(p.marker + is_in);
    if (!is_in) p.recovering = p.careful = 1;
    item.push = p.recovering ? doubtful : in;
    out.move(s, 2 + who, is_in ? "an item is put in" : "a batch is refused");
    if (!is_in || !spend(s)) return;
    p.recovering = p.careful = 1;
    for (size_t j = i; j < 2 * who + 2; ++j) {
      if (j == i || is_sent(s.items[j].push)) s.items[j].push = doubtful;
    }
    out.chance(s, 2 + who, "an item is put in, and its answer is lost with the connection");
  }

  // After all answers, the marker tells what is in.
  void recover(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    Item* const items = &s.items[2 * who];
    if (!p.recovering || is_sent(items[0].push) || is_sent(items[1].push)) return;
    for (size_t i = 0; i < 2; ++i) {
      const bool is_in = i < p.marker && mutant_ != Mutant::no_marker;
      if (items[i].push == doubtful) items[i].push = is_in ? in : to_come;
    }
    p.recovering = 0;
    out.move(s, 2 + who, "reads its marker, and goes on");
  }

  static void lose_pusher(State s, size_t who, Steps<State>& out) {
    Item* const items = &s.items[2 * who];
    const bool any = is_sent(items[0].push) || is_sent(items[1].push);
    if (has_ended(s, who) || !spend(s)) return;
    State dies = s;
    for (size_t i = 2 * who; i < 2 * who + 2; ++i) {
      dies.items[i].push = s.items[i].life == outside ? dropped : in;
      if (is_sent(s.items[i].push)) s.items[i].push = doubtful;
    }
    out.chance(dies, 2 + who, "is killed");
    s.pushers[who].recovering = s.pushers[who].careful = 1;
    if (any) out.chance(s, 2 + who, "what it has sent is lost");
  }

  Mutant mutant_;
};

}  // namespace zklock::model::lane
