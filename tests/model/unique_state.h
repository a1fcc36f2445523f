// SPDX-License-Identifier: Apache-2.0
// The queue of unique_model.cc: keys and items, and what each transaction does to them.
#pragma once

#include "checker.h"

#include <algorithm>
#include <array>

namespace zklock::model::unique {

enum KeyStatus : uint8_t { absent, in_queue, kept };
enum Tag : uint8_t { u, w_0, w_for };  // what the item's end does to the key; w_for: the time is not 0
enum ItemState : uint8_t { none, waiting, claimed, dead = claimed + 2 };  // claimed + the consumer's number
enum Ending : uint8_t { by_done, by_death, by_purge };
enum Status : uint8_t {
  to_come,
  pending,   // read from the input; its key is to be read
  there,     // its key was taken: is to be read again, behind a barrier
  free_key,  // its key was absent or free
  sent,      // the server has the batch, or will have it
  half,      // only in a mutant: the keys are made
  done,      // the answer is on its way
  refused,   // the answer is on its way
  failed,    // the answer has come
  doubtful,  // no answer has come, nor will
  taken_in,
  dropped,  // a duplicate
};
enum ConsumerPhase : uint8_t { idle, working, ack_lost };
enum SweepPhase : uint8_t { resting, has_read, no_segment, sure };

struct Key {
  uint8_t status, version;
  uint8_t token;      // in its data: the pusher, counted from 1; kRequeued
  uint8_t segment;    // in its data
  uint8_t in_time;    // its item was done with a time that is not over
  uint8_t was_there;  // a lagging server may show it as taken
  uint8_t by_hand;
};
struct Item {
  uint8_t state, key, tag, segment;
};
// What was read of a key that was not taken.
struct Seen {
  uint8_t version;  // from 1 on; 0: absent
  uint8_t fence;    // keys/BB is as it was
};
struct Wish {
  uint8_t status, key;
  Seen seen;
  uint8_t marker;
  uint8_t times, warned;  // how often it was put in; reported as possibly in
  uint8_t was_taken;      // the key was, at a moment since it was read from the input
};
struct Pusher {
  std::array<Wish, 2> wishes;
  uint8_t count, together;  // in one batch
  uint8_t keeps;            // --unique-for
  uint8_t marked, marker;   // the marker is there; how many batches it counts
  uint8_t next, segment;    // as the pusher knows them
  uint8_t recovering, expired, over;
};
struct Consumer {
  uint8_t phase, without_key;
};
struct Sweep {
  uint8_t phase, key;
  uint8_t status, version, segment;  // as it was read
  uint8_t fence, same;               // keys/BB, the node's czxid are as they were
};
struct Requeue {
  uint8_t runs, key;
  Seen seen;
};

constexpr uint8_t kRequeued = 3;

enum class Mutant {
  none,
  unsettled,
  two_requests,
  by_version,
  unversioned,
  unfenced,
  reused_as_u,
  one_read,
  second_version,
  loops,
  requeued_bare,
  purged_bare,
  dead_keeps,
  no_token,
  silent_for,
  no_segments,
  with_earlier,
  late_marker,
  kept_look,
  bare_sweep,
  unmarked
};

enum Error : uint8_t { fine, lost, own, twice, too_soon, overflow };
struct State {
  std::array<Key, 2> keys;
  std::array<Item, 5> items;
  std::array<Pusher, 2> pushers;
  std::array<Consumer, 2> consumers;
  std::array<Sweep, 2> sweeps;
  Requeue requeue;
  uint8_t begun, consuming, sweeping;          // consuming, sweeping: how many do so
  uint8_t open_segment, first_gone, deleting;  // the segments are 0 and 1
  uint8_t faults, events, error;               // events: a death, a time that is over, a seal, queue delete
};

class Keys {
 protected:
  explicit Keys(Mutant mutant) : mutant_(mutant) {}

  static bool is_taken(const Key& key) { return key.status == in_queue || (key.status == kept && key.in_time); }
  static bool is_live(const Item& item) { return item.state != none && item.state != dead; }
  static bool is_gone(const State& s, uint8_t segment) { return segment == 0 && s.first_gone; }
  static std::ptrdiff_t live(const State& s, size_t k) {
    return std::count_if(s.items.begin(), s.items.end(), [&](auto& i) { return is_live(i) && i.key == k; });
  }
  // True once nothing of what was done by hand is left: what was read of the key before may fit it again.
  static bool is_consistent(const State& s, size_t k) {
    const auto sweeps = [&](const Sweep& x) { return x.phase != resting && x.key == k; };
    const auto has_seen = [&](const Wish& w) { return w.key == k && w.seen.version > 0; };
    const auto reuses = [&](const Pusher& p) { return std::any_of(p.wishes.begin(), p.wishes.end(), has_seen); };
    const auto leaves_key = [](const Consumer& c) { return c.without_key; };
    return std::none_of(s.consumers.begin(), s.consumers.end(), leaves_key) &&
           live(s, k) == (s.keys[k].status == in_queue) && !s.keys[k].in_time && !s.requeue.runs &&
           std::none_of(s.sweeps.begin(), s.sweeps.end(), sweeps) &&
           std::none_of(s.pushers.begin(), s.pushers.end(), reuses);
  }
  static Seen read(const Key& key) { return {static_cast<uint8_t>(key.status == absent ? 0 : key.version + 1), 1}; }

  static void remove_key(State& s, size_t k) {
    Key& key = s.keys[k];
    key.status = absent;
    key.version = 0;
    for (Sweep& sweep : s.sweeps) sweep.same &= sweep.key != k;
  }

  // What a push or a requeue does to a key. Returns false if the key is not as it was seen.
  bool claim_key(State& s, size_t k, Seen seen, uint8_t token, uint8_t segment) const {
    Key& key = s.keys[k];
    const bool reuses = seen.version > 0;
    if (reuses == (key.status == absent)) return false;
    if (reuses && key.version + 1 != seen.version && mutant_ != Mutant::unversioned) return false;
    if (reuses && !seen.fence && mutant_ != Mutant::unfenced) return false;
    if (key.in_time && !key.by_hand) s.error = too_soon;
    if (reuses) ++key.version;
    key.status = in_queue;
    key.token = token;
    key.segment = segment;
    return true;
  }

  uint8_t tag_for(Seen seen, uint8_t tag) const {
    const bool stays = seen.version == 0 || tag != u || mutant_ == Mutant::reused_as_u;
    return stays ? tag : uint8_t{w_0};
  }

  static void put(State& s, size_t k, uint8_t tag) {
    const auto item = std::find_if(s.items.begin(), s.items.end(), [](auto& i) { return i.state == none; });
    if (item == s.items.end()) {
      s.error = overflow;
    } else {
      *item = {waiting, static_cast<uint8_t>(k), tag, s.open_segment};
    }
  }

  // The transaction that ends an item, from its path alone. Returns false if its key is missing.
  bool end(State& s, Item& item, Ending how, bool without_key) const {
    Key& key = s.keys[item.key];
    if (!without_key && key.status == absent) return false;
    const bool leaves = (how == by_death && mutant_ == Mutant::dead_keeps) ||
                        (how == by_purge && mutant_ == Mutant::purged_bare) || without_key;
    if (!leaves && item.tag == u) remove_key(s, item.key);
    if (!leaves && item.tag != u) {
      key.status = kept;
      ++key.version;
      key.in_time = item.tag == w_for && how == by_done;
    }
    item.state = how == by_death ? dead : none;
    item.segment = 0;
    if (how != by_death) item = {};
    return true;
  }

  static void set_fences(State& s, uint8_t to) {
    for (Sweep& sweep : s.sweeps) sweep.fence = to;
    for (Pusher& p : s.pushers) {
      for (Wish& wish : p.wishes) wish.seen.fence = to;
    }
    s.requeue.seen.fence = to;
  }

  Mutant mutant_;
};

}  // namespace zklock::model::unique
