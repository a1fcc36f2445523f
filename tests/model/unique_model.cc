// SPDX-License-Identifier: Apache-2.0
// Unique items of a queue (`queue push --unique`, `--unique-for`), before the feature is built: two pushers, consumers,
// two sweeps, purge, requeue, queue delete, and a person who deletes an item or a key by hand. There are two keys, and
// one folder keys/BB for both. Each step below is one read or one of these transactions:
//
//   push      check segment | marker: k - 1 -> k | for each item: create key, create item
//                                 or, if the key is free: check keys/BB | write key at its version | create item (w)
//   done      delete claim | delete item | u: delete key; w: write key "kept SECONDS"
//   dead      delete claim | delete item | create letter and why | u: delete key; w: write key "kept 0"
//   purge     delete item | its key as for dead
//   requeue   check segment | create item | delete why and letter | its key as for push
//   sweep     write keys/BB at its version | delete each key that is free at its version
//   delete    delete items dead pushing waiting, write "being deleted"; then the keys; then the rest
//
// A key is taken if it is in the queue, or kept and not over. A key's version starts at 0 when it is made again, so
// versions here are real. That keys/BB, or the key's czxid, is what it was is one bit with each reader. keys/BB is read
// before the key; one moment for both is the worse case, because it lets more transactions pass.
//
// Left out: priorities, the input's end, the claim and the other acks (queue_model.cc), the make of the queue and of
// keys/BB (make_queue_model.cc), clocks ("over" is exact), and that a push has only one batch in flight after a
// failure. An item twice in one batch is dropped with the first one; so a batch's keys are read only once it takes no
// more items. A read behind a barrier is one moment. A consumer that is killed is one whose session expires. A server
// that lags is modelled at the first read of a push, which may show any key as taken that ever was; what else such a
// read shows, the transaction checks. A sweep keeps the queue from being deleted, because it belongs to a push with a
// marker. While a key is not as it should be because a person has deleted it or its item, it is not judged (`by_hand`).
//
// Differs from the first design: (1) An item with the key of an earlier batch of this push waits for its answer, and
// then its key is read as any other. It is not dropped with it, because the earlier item may have been done before this
// one was read. (2) A push makes its marker before it reads keys, in the same flight, and sweeps only while it has it;
// in a new session, it reads all keys again. Otherwise the queue may be deleted and made again after the read, and the
// versions of keys/BB and of the key come round. (3) A sweep deletes a key at the version of its first read. The second
// read shows only that the node is the same. (4) If none of a batch's keys is ours after an expiry, the doubt is
// reported with --unique-for, too: an item may be dead, or over, meanwhile. One with our token also proves the batches
// before it.
#include "run.h"
#include "unique_push.h"

#include <tuple>

namespace zklock::model::unique {
namespace {

class Unique : Pushers {
 public:
  using Mutant = unique::Mutant;
  using State = unique::State;
  static constexpr std::array kMutants = {"drops what the first read shows",
                                          "key and item in two transactions",
                                          "sweeps by the version alone",
                                          "uses a key again without its version",
                                          "uses a key again without the folder's version",
                                          "uses a key again for an item that deletes it",
                                          "a sweep reads the key once",
                                          "a sweep relies on the version of its second read",
                                          "an ack does not look for its key",
                                          "requeue without the key",
                                          "purge without the key",
                                          "a dead letter keeps its key",
                                          "does not know its token after an expiry",
                                          "says nothing with --unique-for after an expiry",
                                          "a sweep does not look for segments",
                                          "drops what an earlier batch without an answer has",
                                          "reads keys before it has a marker",
                                          "relies on what it read in another session",
                                          "sweeps without a marker",
                                          "deletes the keys of a queue that is not marked"};

  Unique(Size size, Mutant mutant) : Pushers(mutant), full_(size == Size::full) {}

  State first() const {
    State s{};
    s.consuming = full_ ? 2 : 1;
    s.faults = 1;
    s.events = full_ ? 2 : 1;
    return s;
  }

  // Notes what is taken now, makes equal what does not matter, and sorts what has no order.
  void tidy(State& s) const {
    for (size_t k = 0; k < s.keys.size(); ++k) {
      Key& key = s.keys[k];
      key.was_there |= is_taken(key);
      if (key.status != in_queue) key.token = key.segment = 0;
      if (is_consistent(s, k)) key.by_hand = 0;
    }
    for (Pusher& p : s.pushers) tidy_pusher(s, p);
    for (Sweep& sweep : s.sweeps) {
      const bool can_only_fail = !sweep.fence && mutant_ != Mutant::bare_sweep;
      if (sweep.phase == resting || can_only_fail) sweep = {};
      if (sweep.phase == sure || sweep.status == kept) sweep.same = 0;
      if (sweep.phase != has_read || sweep.status == kept) sweep.segment = 0;
    }
    if (!s.requeue.runs) s.requeue = {};
    const auto order = [](const Sweep& x) {
      return std::tie(x.phase, x.key, x.status, x.version, x.segment, x.fence, x.same);
    };
    std::sort(s.sweeps.begin(), s.sweeps.end(), [&](auto& x, auto& y) { return order(x) < order(y); });
    std::sort(s.items.begin(), s.items.end(), [](auto& x, auto& y) {
      return std::tie(x.state, x.key, x.tag, x.segment) > std::tie(y.state, y.key, y.tag, y.segment);
    });
  }

  const char* fault(const State& s) const {
    constexpr std::array kErrors = {"",
                                    "an item is dropped whose key was not taken since it was read",
                                    "an item counts as a duplicate of itself",
                                    "an item is in twice without a word",
                                    "an item is added within the time",
                                    "more items than the model has room for"};
    if (s.error != fine) return kErrors[s.error];
    for (size_t k = 0; k < s.keys.size(); ++k) {
      const Key& key = s.keys[k];
      if (key.by_hand) continue;
      if (live(s, k) > 1) return "two items have one key";
      if (key.in_time && key.status != kept && !s.deleting) return "a key is gone or used within its time";
      if (live(s, k) == 1 && key.status != in_queue) return "an item is without its key";
      if (live(s, k) == 0 && key.status == in_queue && !s.deleting) return "a key is without its item";
    }
    return nullptr;
  }

  // Keys may stay only within their time, and as long as the segment of an item that was deleted by hand.
  bool is_settled(const State& s) const {
    const auto is_left = [&](const Key& key) {
      return (key.status == kept && !key.in_time) || (key.status == in_queue && is_gone(s, key.segment));
    };
    return s.begun && !s.deleting && !s.requeue.runs &&
           std::all_of(s.pushers.begin(), s.pushers.end(), [](const Pusher& p) { return p.over; }) &&
           std::all_of(s.consumers.begin(), s.consumers.end(), [](const Consumer& c) { return c.phase == idle; }) &&
           std::all_of(s.items.begin(), s.items.end(), [](auto& i) { return i.state == none || i.state == dead; }) &&
           std::none_of(s.keys.begin(), s.keys.end(), is_left);
  }

  void steps(const State& s, Steps<State>& out) const {
    if (!s.begun) return begin(s, out);
    for (size_t who = 0; who < s.pushers.size(); ++who) {
      if (!s.pushers[who].over) pusher_steps(s, who, out);
    }
    for (size_t who = 0; who < s.consuming; ++who) consumer_steps(s, who, out);
    for (size_t i = s.sweeps.size() - s.sweeping; i < s.sweeps.size(); ++i) sweep_steps(s, i, out);
    requeue_steps(s, out);
    segment_steps(s, out);
    time_steps(s, out);
    if (s.faults > 0) outsiders(s, out);
    if (s.events > 0) begin_delete(s, out);
    delete_keys(s, out);
  }

 private:
  // -- Consumers

  static Item* item_of(State& s, size_t who) {
    const auto item = std::find_if(s.items.begin(), s.items.end(), [&](auto& i) { return i.state == claimed + who; });
    return item == s.items.end() ? nullptr : &*item;
  }

  void consumer_steps(const State& s, size_t who, Steps<State>& out) const {
    const size_t actor = who + 2;
    switch (static_cast<ConsumerPhase>(s.consumers[who].phase)) {
      case idle: return claim(s, who, out);
      case working:
        ack(s, who, by_done, out);
        ack(s, who, by_death, out);
        break;
      case ack_lost: find_out(s, who, out); break;
    }
    if (s.faults == 0) return;
    State next = s;
    --next.faults;
    if (Item* item = item_of(next, who)) item->state = waiting;
    next.consumers[who] = {};
    out.chance(next, actor, "its session expires");
  }

  static void claim(const State& s, size_t who, Steps<State>& out) {
    for (size_t i = 0; i < s.items.size(); ++i) {
      if (s.items[i].state != waiting) continue;
      State next = s;
      next.items[i].state = static_cast<uint8_t>(claimed + who);
      next.consumers[who].phase = working;
      out.move(next, who + 2, "claims an item");
    }
  }

  void ack(const State& s, size_t who, Ending how, Steps<State>& out) const {
    const size_t actor = who + 2;
    if (how == by_death && s.events == 0) return;
    State next = s;
    if (how == by_death) --next.events;
    if (!end(next, *item_of(next, who), how, s.consumers[who].without_key)) {
      next = s;
      next.consumers[who].phase = ack_lost;
      return out.move(next, actor, "its key is missing");
    }
    next.consumers[who] = {};
    if (how == by_done) out.move(next, actor, "removes its item");
    if (how == by_death) out.chance(next, actor, "makes its item a dead letter");
    if (s.faults == 0) return;
    --next.faults;
    next.consumers[who].phase = ack_lost;
    out.chance(next, actor, "ends its item, the answer is lost");
    next = s;
    --next.faults;
    next.consumers[who].phase = ack_lost;
    out.chance(next, actor, "its ack is lost");
  }

  // The claim shows whether the ack was carried out. If not, it is sent again without a key that is missing.
  void find_out(State s, size_t who, Steps<State>& out) const {
    const Item* item = item_of(s, who);
    const bool missing = item && s.keys[item->key].status == absent && mutant_ != Mutant::loops;
    s.consumers[who] = {static_cast<uint8_t>(item ? working : idle), missing};
    out.move(s, who + 2, item ? "finds its claim" : "finds that its item is gone");
  }

  // -- Sweeps, each of which looks at one key

  void sweep_steps(const State& s, size_t i, Steps<State>& out) const {
    const Sweep& sweep = s.sweeps[i];
    if (sweep.phase == resting) {
      for (uint8_t k = 0; k < s.keys.size() && !s.deleting; ++k) begin_sweep(s, i, k, out);
      return;
    }
    State next = s;
    Sweep& after = next.sweeps[i];
    if (sweep.status == in_queue && sweep.phase == has_read) {
      after.phase = is_gone(s, sweep.segment) ? no_segment : resting;
      if (mutant_ == Mutant::one_read && after.phase == no_segment) after.phase = sure;
      out.move(next, kNobody, "a sweep looks for the segment");
    } else if (sweep.phase == no_segment) {
      after.phase = sweep.same ? sure : resting;
      if (mutant_ == Mutant::second_version) after.version = s.keys[sweep.key].version;
      out.move(next, kNobody, "a sweep reads the key again");
    } else {
      clear(s, i, out);
    }
  }

  void begin_sweep(State s, size_t i, uint8_t k, Steps<State>& out) const {
    const Key& key = s.keys[k];
    const bool asks = key.status == in_queue && mutant_ != Mutant::no_segments;
    if (!asks && (key.status != kept || key.in_time)) return;
    if (asks && (key.segment > 0 || (s.open_segment == 0 && s.events == 0))) return;  // it never goes
    s.sweeps[i] = {has_read, k, key.status, key.version, key.segment, 1, 1};
    out.move(s, kNobody, asks ? "a sweep reads a key in the queue" : "a sweep reads a free key");
  }

  // A sweep that failed, or whose answer is lost, is forgotten.
  void clear(State s, size_t i, Steps<State>& out) const {
    const Sweep sweep = s.sweeps[i];
    const Key& key = s.keys[sweep.key];
    const bool fits = key.status != absent && key.version == sweep.version && !s.deleting;
    s.sweeps[i].phase = resting;
    if (!fits || (!sweep.fence && mutant_ != Mutant::by_version)) return out.move(s, kNobody, "a sweep fails");
    remove_key(s, sweep.key);
    if (mutant_ != Mutant::by_version) set_fences(s, 0);
    out.move(s, kNobody, "a sweep deletes a key");
  }

  // -- Requeue, purge, delete, time, and a person

  // If its answer is lost, the letter shows whether it was carried out.
  void requeue_steps(State s, Steps<State>& out) const {
    const auto is_letter = [&](const Item& i) {
      return i.state == dead && (!s.requeue.runs || i.key == s.requeue.key);
    };
    const auto letter = std::find_if(s.items.begin(), s.items.end(), is_letter);
    if (letter == s.items.end()) {
      if (!s.requeue.runs) return;
      s.requeue = {};
      return out.move(s, kNobody, "requeue finds no letter");
    }
    const Key& key = s.keys[letter->key];
    const Requeue requeue = s.requeue;
    s.requeue = {};
    if (!requeue.runs) {
      if (is_taken(key)) return;  // the letter stays
      s.requeue = {1, letter->key, read(key)};
      return out.chance(s, kNobody, "requeue reads the key of a letter");
    }
    State next = s;
    const bool bare = mutant_ == Mutant::requeued_bare;
    if (!bare && !claim_key(next, letter->key, requeue.seen, kRequeued, s.open_segment)) {
      return out.move(s, kNobody, "requeue is refused");
    }
    next.items[static_cast<size_t>(letter - s.items.begin())] = {};
    put(next, letter->key, tag_for(requeue.seen, letter->tag));
    out.move(next, kNobody, "a letter is put back");
  }

  static void segment_steps(const State& s, Steps<State>& out) {
    State next = s;
    if (s.events > 0 && !s.open_segment && !s.deleting) {
      --next.events;
      next.open_segment = 1;
      out.chance(next, kNobody, "another pusher seals the segment");
    }
    const auto in_first = [](const Item& item) { return is_live(item) && item.segment == 0; };
    if (!s.open_segment || s.first_gone || std::any_of(s.items.begin(), s.items.end(), in_first)) return;
    next = s;
    next.first_gone = 1;
    out.move(next, kNobody, "the sealed segment is removed");
  }

  static void time_steps(const State& s, Steps<State>& out) {
    for (size_t k = 0; k < s.keys.size(); ++k) {
      if (!s.keys[k].in_time || s.events == 0) continue;
      State next = s;
      next.keys[k].in_time = 0;
      --next.events;
      out.chance(next, kNobody, "the time of a key is over");
    }
  }

  void outsiders(State s, Steps<State>& out) const {
    --s.faults;
    for (size_t i = 0; i < s.items.size(); ++i) {
      State next = s;
      Item& item = next.items[i];
      if (item.state != waiting && item.state != dead) continue;
      const bool letter = item.state == dead;
      if (letter || !end(next, item, by_purge, false)) end(next, item, by_purge, true);
      out.chance(next, kNobody, letter ? "a letter is purged" : "an item is purged");
      if (letter) continue;
      next = s;
      next.keys[item.key].by_hand = 1;
      next.items[i] = {};
      out.chance(next, kNobody, "an item is deleted by hand");
    }
    for (size_t k = 0; k < s.keys.size(); ++k) {
      State next = s;
      if (s.keys[k].status != in_queue) continue;
      next.keys[k].by_hand = 1;
      remove_key(next, k);
      out.chance(next, kNobody, "a key is deleted by hand");
    }
  }

  // The transaction of queue delete: there are no items, letters and markers. A sweep belongs to a push with a marker.
  void begin_delete(State s, Steps<State>& out) const {
    const auto is_used = [](const Item& item) { return item.state != none; };
    const auto is_marked = [](const Pusher& p) { return p.marked; };
    const auto sweeps = [&](const Sweep& x) { return x.phase != resting && mutant_ != Mutant::bare_sweep; };
    if (s.deleting || std::any_of(s.items.begin(), s.items.end(), is_used) ||
        std::any_of(s.pushers.begin(), s.pushers.end(), is_marked) ||
        std::any_of(s.sweeps.begin(), s.sweeps.end(), sweeps)) {
      return;
    }
    s.deleting = 1;
    --s.events;
    out.chance(s, kNobody, "the queue is being deleted");
  }

  // One after the other. Then the queue is made again, and the version of keys/BB may be any that was read before.
  static void delete_keys(State s, Steps<State>& out) {
    if (!s.deleting) return;
    for (size_t k = 0; k < s.keys.size(); ++k) {
      if (s.keys[k].status == absent) continue;
      State next = s;
      remove_key(next, k);
      next.keys[k].in_time = 0;
      out.move(next, kNobody, "a key of the queue is deleted");
    }
    if (std::any_of(s.keys.begin(), s.keys.end(), [](const Key& key) { return key.status != absent; })) return;
    s.deleting = s.open_segment = s.first_gone = 0;
    set_fences(s, 1);
    out.move(s, kNobody, "the queue is deleted, and made again");
  }

  // -- What is pushed

  static Pusher pusher(uint8_t count, uint8_t second_key, bool together, bool keeps) {
    Pusher p{};
    p.wishes[1].key = second_key;
    p.count = count;
    p.together = together;
    p.keeps = keeps;
    return p;
  }

  void begin(State s, Steps<State>& out) const {
    s.begun = 1;
    s.sweeping = 1;
    s.pushers = {pusher(2, 1, true, false), pusher(1, 0, false, true)};
    out.move(s, kNobody, "A pushes x and y together, B x --unique-for");
    s.faults = full_ ? 2 : 1;
    s.pushers = {pusher(2, 1, false, false), pusher(0, 0, false, false)};
    out.move(s, kNobody, "A pushes x, then y");
    s.pushers = {pusher(2, 0, false, true), pusher(0, 0, false, false)};
    out.move(s, kNobody, "A pushes x, then x, --unique-for");
    s.faults = 1;
    s.sweeping = 2;
    s.keys[0].status = kept;
    s.keys[0].version = s.keys[0].was_there = 1;
    s.pushers = {pusher(1, 0, false, true), pusher(1, 0, false, false)};
    out.move(s, kNobody, "x was done, and its time is over; A pushes x --unique-for, B x");
  }

  bool full_;
};

}  // namespace
}  // namespace zklock::model::unique

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::unique::Unique>("unique", argc, argv);
}
