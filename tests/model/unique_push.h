// SPDX-License-Identifier: Apache-2.0
// The pushers of unique_model.cc. The numbers are those of the design's steps: (1) an item with the key of an earlier
// one, (2) the first read, (3) the read behind a barrier, (4) a duplicate, (5) the keys' steps, (6) the transaction.
#pragma once

#include "unique_state.h"

namespace zklock::model::unique {

class Pushers : protected Keys {
 protected:
  using Keys::Keys;

  static bool is_in_flight(uint8_t status) { return status >= sent && status <= doubtful; }
  static bool is_answerable(uint8_t status) { return status >= sent && status <= refused; }
  static bool is_final(uint8_t status) { return status >= taken_in; }

  void tidy_pusher(State& s, Pusher& p) const {
    for (Wish& wish : p.wishes) {
      if (wish.status == to_come || p.over) continue;
      if (!is_final(wish.status)) wish.was_taken |= is_taken(s.keys[wish.key]);
      const bool sees = wish.status == free_key || wish.status == sent || wish.status == half;
      if (!sees) wish.seen = {};
      if (!is_in_flight(wish.status)) wish.marker = 0;
      if (wish.status == dropped && !wish.was_taken) s.error = lost;
      if (wish.times > 1 && !wish.warned) s.error = twice;
      if (is_final(wish.status)) wish = {wish.status, wish.key, {}, 0, 0, 0, 1};
    }
    const auto end = p.wishes.begin() + p.count;
    if (!p.over && !std::all_of(p.wishes.begin(), end, [](const Wish& w) { return is_final(w.status); })) return;
    p = {};
    p.over = 1;
  }

  void pusher_steps(const State& s, size_t who, Steps<State>& out) const {
    const Pusher& p = s.pushers[who];
    process(s, who, out);
    if (s.faults > 0) pusher_faults(s, who, out);
    if (p.expired) return renew(s, who, out);
    if (!p.marked && (mutant_ != Mutant::late_marker || s.deleting)) return make_marker(s, who, out);
    read_input(s, who, out, "reads what comes next");
    answer(s, who, out);
    if (p.recovering) return recover(s, who, out);
    for (size_t i = 0; i < p.count; ++i) {
      if (p.wishes[i].status == pending) look(s, who, i, out);
      if (p.wishes[i].status == there) look_settled(s, who, i, out);
    }
    send(s, who, out);
  }

  // Also ends a push that finds a queue that is being deleted: 65.
  void make_marker(State s, size_t who, Steps<State>& out) const {
    const bool ends = s.deleting && mutant_ != Mutant::unmarked;
    s.pushers[who].marked = 1;
    if (ends) s.pushers[who] = {{}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    if (ends) return out.move(s, who, "ends: the queue is being deleted");
    read_input(s, who, out, "makes its marker, and reads what comes first");
  }

  static void read_input(State s, size_t who, Steps<State>& out, const char* what) {
    Pusher& p = s.pushers[who];
    const auto end = p.wishes.begin() + p.count;
    const auto wish = std::find_if(p.wishes.begin(), end, [](const Wish& w) { return w.status == to_come; });
    if (wish == end) return;
    wish->status = pending;
    if (p.together) p.wishes[1].status = pending;
    out.move(s, who, what);
  }

  // (2), and (1): an earlier item with the same key must have been answered.
  void look(State s, size_t who, size_t i, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    Wish& wish = p.wishes[i];
    const Wish& earlier = p.wishes[0];
    if (i > 0 && earlier.key == wish.key && !is_final(earlier.status)) return;
    const Key& key = s.keys[wish.key];
    if (!is_taken(key)) {
      wish.status = free_key;
      wish.seen = read(key);
      out.move(s, who, "reads a key: absent or free");
    }
    if (!is_taken(key) && !key.was_there) return;
    const bool drops = mutant_ == Mutant::unsettled;
    wish.status = drops ? dropped : there;
    wish.seen = {};
    out.move(s, who, is_taken(key) ? "reads a key: taken" : "reads a key on a server that lags: taken");
  }

  // (3), (4).
  static void look_settled(State s, size_t who, size_t i, Steps<State>& out) {
    Wish& wish = s.pushers[who].wishes[i];
    const Key& key = s.keys[wish.key];
    const bool taken = is_taken(key);
    if (taken && key.status == in_queue && key.token == who + 1 && wish.times > 0) s.error = own;
    wish.status = taken ? dropped : free_key;
    wish.seen = read(key);
    out.move(s, who, taken ? "reads it behind a barrier: a duplicate" : "reads it behind a barrier: free");
  }

  // (5), (6). A batch is sent once all its keys are read, and after the batches before it.
  static void send(State s, size_t who, Steps<State>& out) {
    Pusher& p = s.pushers[who];
    for (size_t i = 0; i < p.count; ++i) {
      const auto is_to_wait = [&](const Wish& w) { return w.status < free_key && (p.together || &w == &p.wishes[i]); };
      if (std::any_of(p.wishes.begin(), p.wishes.begin() + p.count, is_to_wait)) return;
      if (p.wishes[i].status != free_key) continue;
      if (!is_any_in_flight(p)) p.segment = s.open_segment;
      for (size_t j = 0; j < p.count; ++j) {
        Wish& wish = p.wishes[j];
        if ((p.together || j == i) && wish.status == free_key) wish = sent_as(wish, p.next);
      }
      ++p.next;
      return out.move(s, who, "sends a batch");
    }
  }
  static Wish sent_as(Wish wish, uint8_t marker) {
    wish.status = sent;
    wish.marker = marker;
    return wish;
  }
  static bool is_any_in_flight(const Pusher& p) {
    return std::any_of(p.wishes.begin(), p.wishes.end(), [](const Wish& w) { return is_in_flight(w.status); });
  }

  // The transaction of the oldest batch.
  void process(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    const auto is_here = [](const Wish& w) { return w.status == sent || w.status == half; };
    const auto oldest = std::find_if(p.wishes.begin(), p.wishes.end(), is_here);
    if (oldest == p.wishes.end() || p.expired) return;
    const uint8_t marker = oldest->marker;
    State next = s;
    bool in = p.segment == s.open_segment && marker == p.marker && (!s.deleting || mutant_ == Mutant::unmarked);
    const bool halves = mutant_ == Mutant::two_requests && oldest->status == sent;
    for (Wish& wish : next.pushers[who].wishes) {
      if (!is_here(wish) || wish.marker != marker || !in) continue;
      if (wish.status == sent) in = claim_key(next, wish.key, wish.seen, uint8_t(who + 1), p.segment);
      wish.status = halves ? half : done;
      if (!in || halves) continue;
      ++wish.times;
      put(next, wish.key, tag_for(wish.seen, p.keeps ? w_for : u));
    }
    if (in && !halves) ++next.pushers[who].marker;
    if (in) next.pushers[who].marked = 1;
    if (in) return out.move(next, who, halves ? "a batch's keys are made" : "a batch is put in");
    for (Wish& wish : p.wishes) {
      if (is_here(wish) && wish.marker == marker) wish.status = refused;
    }
    out.move(s, who, "a batch is refused");
  }

  void answer(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    const auto test = [&](const Wish& w) { return p.recovering ? is_answerable(w.status) : is_in_flight(w.status); };
    const auto oldest = std::find_if(p.wishes.begin(), p.wishes.end(), test);
    if (oldest == p.wishes.end() || (oldest->status != done && oldest->status != refused)) return;
    const Wish of = *oldest;
    p.recovering |= of.status == refused;
    for (Wish& wish : p.wishes) {
      if (!is_in_flight(wish.status) || wish.marker != of.marker) continue;
      wish.status = of.status == done ? taken_in : failed;
      if (of.status == done && mutant_ == Mutant::with_earlier) drop_with(p, wish);
    }
    out.move(s, who, of.status == done ? "hears that a batch is in" : "hears that a batch was refused");
  }
  static void drop_with(Pusher& p, const Wish& earlier) {
    for (Wish& wish : p.wishes) {
      if (wish.status == pending && wish.key == earlier.key) wish.status = dropped;
    }
  }

  // Reads the marker behind a barrier. What is not in is looked at again.
  static void recover(State s, size_t who, Steps<State>& out) {
    Pusher& p = s.pushers[who];
    if (std::any_of(p.wishes.begin(), p.wishes.end(), [](const Wish& w) { return is_answerable(w.status); })) return;
    for (Wish& wish : p.wishes) {
      if (is_in_flight(wish.status)) wish.status = wish.marker < p.marker ? taken_in : pending;
    }
    p.next = p.marker;
    p.recovering = 0;
    out.move(s, who, "reads its marker");
  }

  // In a new session: a new marker, and then the keys of what is in doubt, behind a barrier. One with our token proves
  // that its batch is in, and those before it.
  void renew(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (s.deleting && mutant_ != Mutant::unmarked) return make_marker(s, who, out);
    const auto is_ours = [&](const Wish& wish) {
      const Key& key = s.keys[wish.key];
      return wish.status == doubtful && key.status == in_queue && key.token == who + 1;
    };
    bool ours = p.together && std::any_of(p.wishes.begin(), p.wishes.end(), is_ours);
    for (size_t i = p.count; i-- > 0;) {
      ours |= is_ours(p.wishes[i]);
      begin_again(p.wishes[i], ours, p.keeps);
    }
    p.marked = 1;
    p.marker = p.next = p.expired = p.recovering = 0;
    out.move(s, who, "opens another session, makes a marker, reads the keys of what is in doubt");
  }
  void begin_again(Wish& wish, bool ours, bool keeps) const {
    const bool is_doubtful = wish.status == doubtful;
    const bool relies = mutant_ == Mutant::kept_look && wish.status == free_key;
    if (wish.status <= pending || is_final(wish.status) || relies) return;
    const bool is_said = mutant_ != Mutant::silent_for || !keeps;
    wish.warned |= is_doubtful && !ours && is_said;
    wish.status = is_doubtful && ours && mutant_ != Mutant::no_token ? taken_in : pending;
  }

  static void pusher_faults(const State& s, size_t who, Steps<State>& out) {
    State next = s;
    --next.faults;
    Pusher& p = next.pushers[who];
    const bool any = std::any_of(p.wishes.begin(), p.wishes.end(), [](auto& w) { return is_answerable(w.status); });
    for (Wish& wish : p.wishes) wish.status = is_answerable(wish.status) ? uint8_t{doubtful} : wish.status;
    p.recovering |= any;
    if (any && !p.expired) out.chance(next, who, "the connection breaks");
    p.marker = p.marked = 0;
    p.expired = 1;
    if (s.pushers[who].marked && !s.pushers[who].expired) out.chance(next, who, "the session expires");
    p = {};
    p.over = 1;
    out.chance(next, who, "is killed");
  }
};

}  // namespace zklock::model::unique
