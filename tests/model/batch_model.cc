// SPDX-License-Identifier: Apache-2.0
// `queue push --wait`: a pusher that waits until each of its items has ended, two consumers, `queue requeue`, `purge`
// and `delete`, and the sweep by the next `push --wait`. Built in src/recipe/queue/awaited.cc. T is the pusher's token.
//
//   make      create awaited/T, its children done, dead, purged, back | create pushing/T: ephemeral
//   push      check segment, version 0 | write awaited/T: version k - 1 -> k, data: items so far | create items, tag pT
//   done      delete claim | delete item | write done          (any version: only the counters' versions count)
//   dead      delete claim | delete item | create letter, with the item's name | create why | write dead
//   purge     delete item | write purged                       (of a letter: delete why | delete letter)
//   requeue   check segment | create item, with the letter's tags | delete why | delete letter | write back
//   renew     check awaited/T | create pushing/T               (the first request in another session of the pusher)
//   clean up  delete pushing/T | delete back at the version read | delete done, dead, purged, awaited/T
//   sweep     create pushing/T | delete pushing/T | delete back and awaited/T at the versions read, done, dead, purged
//   delete    delete items, dead, pushing, waiting | write the queue's mark; then delete the pushes
//
// The pusher reads done, dead and purged, each with a watch, and then back: left = n - done - dead - purged + back.
// When nothing is left, this read decides: 0 if done = n, else 123. The clean-up is sent once, and its outcome changes
// nothing. At a timeout or a signal, all nodes stay but pushing/T. If its node is gone, the pusher ends with 65. An
// ack that fails although the claim is ours is sent again, without the counter if the batch is gone. So is a purge. A
// requeue then drops the tag.
//
// Differs from the first design:
// - One watch is not enough, because the last item may be done, dead or purged. There are three.
// - The marker's version counts batches. A sweep needs the number of items, so each batch writes that as data. A batch
//   that is sent again has the same items as before.
// - The purge of a letter counts nothing: the letter was counted as dead.
// - A pusher may come back after a sweep has read that it is gone. So the sweep proves it in its transaction, which a
//   server carries out (tried with 3.8.0) unless pushing/T is there.
// - A live pusher that has just lost its session looks like a killed one. If its batch were swept, it could not know
//   how its items ended. So a sweep takes only a batch to which nothing was written for a day: it compares the mtimes
//   with the ctime of the sweeper's own batch. A pusher that was away for longer ends with 65.
// - Another session begins with renew. From then on, no sweep and no `queue delete` can take the batch. It is a barrier
//   too, so later reads are no older than those of the session before.
// - The clean-up names the version of back. So a letter that is put back meanwhile keeps its batch, which a later sweep
//   takes. Each tagged item has its batch, unless a person has deleted that.
// - If the queue is deleted while the pusher has no session, the pusher ends with 65.
//
// In full size, the pusher's server may lag behind. Then the wait ends by a state that was true a little earlier.
//
// Left out: segments, and how the queue is made (push_model.cc, make_queue_model.cc); claims without an answer, retry,
// release, the idle line (queue_model.cc); lost answers of purge and requeue, which delete the item or letter in the
// same transaction and so do nothing twice; several items in a batch or an ack; items that a person deletes, for which
// the pusher would wait forever; other tags; older versions, which leave tagged items alone.
#include "batch_state.h"
#include "run.h"

namespace zklock::model::batch {
namespace {

class Batch {
 public:
  using State = batch::State;
  enum class Mutant {
    none,
    back_first,
    untagged,
    no_back,
    ephemeral,
    purge_uncounted,
    timeout_deletes,
    letter_counted,
    two_requests,
    ack_loops,
    one_watch,
    unseen,
    any_version,
    unproved,
    at_once,
    sweep_any_version,
    not_renewed,
  };
  static constexpr std::array kMutants = {"back is read first",
                                          "requeue drops the tag",
                                          "requeue does not write back",
                                          "the marker is ephemeral",
                                          "purge does not count",
                                          "the batch is deleted at a timeout",
                                          "the purge of a letter counts",
                                          "the counter is written behind the ack",
                                          "an ack without its batch is sent again as it is",
                                          "only done is watched",
                                          "a change during the reads is not seen",
                                          "the clean-up takes any version",
                                          "a sweep does not prove that the pusher is gone",
                                          "a sweep does not wait for a day",
                                          "a sweep takes any version",
                                          "another session begins without a new node of the pusher"};
  Batch(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.faults = full_ ? 2 : 1;
    s.wishes = 2;
    s.failures = 2;
    return s;
  }

  // In the small size, the pusher's server never lags behind.
  void tidy(State& s) const {
    const bool reads = s.waiter.phase >= reading_done && s.waiter.phase <= sleeping && !s.waiter.expired;
    if (!full_ || !reads) catch_up(s);
    if (!reads) s.waiter.watches = s.waiter.woken = s.waiter.quiet = 0;
    if (!reads) s.waiter.view = {};
    if (s.waiter.phase == over || s.waiter.phase == killed) s.waiter.read = {};
    if (s.waiter.phase == over) s.waiter.batches = {};
    std::sort(s.items.begin(), s.items.end());
    for (Consumer& c : s.consumers) {
      if (c.phase == looking || c.phase == dead_consumer) c.ack = c.bare = 0;
    }
  }

  const char* fault(const State& s) const {
    constexpr std::array<const char*, 7> kFaults = {nullptr,
                                                    "the wait ends with 0, and not all is done",
                                                    "the wait ends, and items are left",
                                                    "the batch of an item that is left is deleted",
                                                    "the batch of a live waiter is deleted",
                                                    "a waiter cannot know how its items ended",
                                                    "an item is in twice"};
    return kFaults[s.error];
  }

  bool is_settled(const State& s) const {
    const auto idle = [](const Consumer& c) { return c.phase == looking || c.phase == dead_consumer; };
    const bool ended = s.waiter.phase == over || (s.waiter.phase == killed && s.waiter.expired);
    return ended && !s.ephemeral && !s.batch.there && !s.sweeper.sweeping && !any_left(s, false) &&
           std::all_of(s.consumers.begin(), s.consumers.end(), idle);
  }

  void steps(const State& s, Steps<State>& out) const {
    process(s, out);
    waiter_session_steps(s, out);
    if (!s.waiter.expired) waiter_steps(s, out);
    for (size_t who = 0; who < s.consumers.size(); ++who) {
      consumer_session_steps(s, who, out);
      if (!s.consumers[who].expired) consumer_steps(s, who, out);
    }
    sweep(s, out);
    pass_a_day(s, out);
    change_queue(s, out);
  }

 private:
  static constexpr size_t kWaiter = 0, kConsumer = 1, kSweeper = 3;  // as actors

  bool is(Mutant mutant) const { return mutant_ == mutant; }

  static void go(State next, Phase phase, Steps<State>& out, const char* what) {
    next.waiter.phase = phase;
    out.move(next, kWaiter, what);
  }

  // `done` is the state if the transaction was done before its answer was lost. The session lives.
  static void lose(State s, State done, Phase phase, Steps<State>& out) {
    if (s.faults == 0) return;
    for (State* next : {&s, &done}) {
      --next->faults;
      next->waiter.phase = phase;
      if (phase == over) next->ephemeral = 0;
    }
    out.chance(s, kWaiter, "its request is lost");
    out.chance(done, kWaiter, "its request is done, the answer is lost");
  }

  static void end(State s, Steps<State>& out, const char* what) {
    s.ephemeral = 0;
    go(s, over, out, what);
  }
  // Ends with 65.
  static void give_up(State s, Steps<State>& out) {
    if (!s.excused && !s.deleted) s.error = unlearned;
    end(s, out, "ends: its batch is gone");
  }

  // The server does the batches in order. It does those of a killed pusher until its session expires.
  void process(State s, Steps<State>& out) const {
    auto& batches = s.waiter.batches;
    const auto at = std::find(batches.begin(), batches.end(), sent);
    if (at == batches.end() || s.waiter.expired) return;
    const auto k = static_cast<uint8_t>(at - batches.begin());
    const bool fits = s.marker == k || is(Mutant::ephemeral);
    *at = s.batch.there && fits ? in : refused;
    if (*at == in) {
      const auto room = std::count(s.items.begin(), s.items.end(), Item{});  // tidy() puts it first
      if (s.items.size() - static_cast<size_t>(room) != k) s.error = twice;
      s.items[0] = {waiting, 0, 0};
      ++s.marker;
      s.old = 0;
    }
    out.move(s, kNobody, *at == in ? "an item is put in" : "a batch is refused");
  }

  void waiter_session_steps(const State& s, Steps<State>& out) const {
    State next = s;
    Waiter& w = next.waiter;
    if (w.phase == over || (w.phase == killed && w.expired)) return;
    if (w.expired) {
      w.expired = 0;
      if (w.phase == cleaning_up) return go(next, over, out, "hears that its session is over, and ends as decided");
      return go(next, renewing, out, "hears that its session is over, opens another");
    }
    if (w.phase != killed && s.faults > 0) {
      --next.faults;
      w.phase = killed;
      out.chance(next, kWaiter, "is killed");
      next = s;
    }
    w.expired = 1;
    next.ephemeral = 0;
    forget_answers(w);
    if (is(Mutant::ephemeral)) next.marker = 0;
    if (w.phase == killed) return out.move(next, kWaiter, "its session expires");
    if (s.faults == 0) return;
    --next.faults;
    out.chance(next, kWaiter, "its session expires");
  }

  void waiter_steps(const State& s, Steps<State>& out) const {
    switch (static_cast<Phase>(s.waiter.phase)) {
      case making: return make(s, out);
      case make_lost:
        return s.batch.there ? go(s, pushing, out, "finds its batch") : go(s, making, out, "finds no batch");
      case pushing: return push(s, out);
      case recovering: return recover(s, out);
      case renewing: return renew(s, out);
      case reading_done:
      case reading_dead:
      case reading_purged:
      case reading_back:
      case sleeping: return wait(s, out);
      case cleaning_up: return clean_up(s, out);
      case over:
      case killed: return;
    }
  }

  static void make(const State& s, Steps<State>& out) {
    if (s.deleted) return give_up(s, out);
    State done = s;
    done.batch.there = done.ephemeral = 1;
    go(done, pushing, out, "makes its batch");
    lose(s, done, make_lost, out);
  }

  // Up to two batches are in flight.
  void push(const State& s, Steps<State>& out) const {
    State next = s;
    auto& batches = next.waiter.batches;
    next.waiter.made = 1;
    const auto unsent_one = std::find(batches.begin(), batches.end(), unsent);
    const auto oldest = std::find_if(batches.begin(), batches.end(), is_unanswered);
    if (unsent_one != batches.end()) {
      *unsent_one = sent;
      out.move(next, kWaiter, "sends an item");
      *unsent_one = unsent;
    }
    if (oldest == batches.end()) {
      if (unsent_one != batches.end()) return;
      catch_up(next);
      return go(next, first_read(), out, "has all items in");
    }
    lose_connection(next, out);
    if (*oldest == sent) return;
    if (*oldest == refused) forget_answers(next.waiter);
    const bool is_in = *oldest == in;
    if (is_in) *oldest = taken_in;
    go(next, is_in ? pushing : recovering, out, is_in ? "hears that an item is in" : "hears that a batch was refused");
  }

  static void lose_connection(State next, Steps<State>& out) {
    if (next.faults == 0) return;
    --next.faults;
    forget_answers(next.waiter);
    next.waiter.phase = recovering;
    out.chance(next, kWaiter, "the connection breaks");
  }

  void recover(State s, Steps<State>& out) const {
    if (!s.batch.there) return give_up(s, out);
    for (uint8_t k = 0; k < kItems; ++k) {
      uint8_t& status = s.waiter.batches[k];
      if (status == doubtful) status = k < s.marker ? taken_in : unsent;
    }
    go(s, pushing, out, "reads its marker");
  }

  // If it finds that the node is there, an earlier attempt was done: the session is its own.
  void renew(const State& s, Steps<State>& out) const {
    if (!s.batch.there && !s.waiter.made && !s.deleted) return go(s, making, out, "finds that it has made no batch");
    if (!s.batch.there || s.deleted) return give_up(s, out);
    State done = s;
    done.waiter.made = 1;
    done.ephemeral = !is(Mutant::not_renewed);
    go(done, recovering, out, "makes its node again");
    lose(s, done, renewing, out);
  }

  Phase first_read() const { return is(Mutant::back_first) ? reading_back : reading_done; }

  void wait(const State& s, Steps<State>& out) const {
    State next = s;
    catch_up(next);
    if (std::memcmp(&next, &s, sizeof s) != 0) out.move(next, kNobody, "its server catches up");
    if (s.faults > 0) time_out(s, out);
    if (s.waiter.phase == sleeping) {
      if (s.waiter.woken) go(s, first_read(), out, "is woken");
      return;
    }
    if (!s.waiter.view.there) return give_up(s, out);
    read(s, out);
  }

  void time_out(State next, Steps<State>& out) const {
    --next.faults;
    next.ephemeral = 0;
    if (is(Mutant::timeout_deletes) && next.batch.there) delete_batch(next, true);
    next.waiter.phase = over;
    out.chance(next, kWaiter, "ends: its time is over");
  }

  // A change of back alone ends nothing, so it has no watch.
  void read(State next, Steps<State>& out) const {
    Waiter& w = next.waiter;
    const auto phase = static_cast<Phase>(w.phase);
    if (phase == first_read()) w.woken = 0;
    if (phase == reading_done) w.read.done = w.view.done;
    if (phase == reading_dead) w.read.dead = w.view.dead;
    if (phase == reading_purged) w.read.purged = w.view.purged;
    if (phase == reading_back) w.read.back = w.view.back;
    const bool watched = phase == reading_done || (phase != reading_back && !is(Mutant::one_watch));
    if (watched) w.watches |= static_cast<uint8_t>(1 << (phase - reading_done));
    const Phase last = is(Mutant::back_first) ? reading_purged : reading_back;
    if (phase == last) return decide(next, out);
    go(next, phase == reading_back ? reading_done : static_cast<Phase>(phase + 1), out, "reads a counter");
  }

  void decide(State next, Steps<State>& out) const {
    Waiter& w = next.waiter;
    if (left_of(w.read, kItems) > 0) {
      if (is(Mutant::unseen)) w.woken = 0;
      return go(next, sleeping, out, "reads the last counter, and sleeps");
    }
    const bool all = w.read.done == kItems;
    const auto is_done = [](const Item& item) { return item.state == done; };
    if (!w.quiet) next.error = some_left;
    if (all && std::count_if(next.items.begin(), next.items.end(), is_done) != kItems) next.error = not_all_done;
    go(next, cleaning_up, out, all ? "reads that all is done" : "reads that nothing is left, and not all is done");
  }

  void clean_up(const State& s, Steps<State>& out) const {
    const bool fits = s.waiter.read.back == s.batch.back || is(Mutant::any_version);
    if (!s.batch.there || !fits) return end(s, out, "ends, and leaves its batch");
    State done = s;
    delete_batch(done, true);
    end(done, out, "deletes its batch, and ends");
    lose(s, done, over, out);
  }

  static void go(State next, size_t who, ConsumerPhase phase, Steps<State>& out, const char* what) {
    next.consumers[who].phase = phase;
    out.move(next, kConsumer + who, what);
  }

  static void consumer_session_steps(const State& s, size_t who, Steps<State>& out) {
    State next = s;
    Consumer& c = next.consumers[who];
    if (c.phase == dead_consumer) {
      end_session(next, who);
      if (!s.consumers[who].expired) out.move(next, kConsumer + who, "its session expires");
      return;
    }
    if (c.expired) {
      c.expired = 0;
      return go(next, who, looking, out, "hears that its session is over, opens another");
    }
    if (c.phase == looking) return;
    if (s.faults > 0 && s.consumers[1 - who].phase != dead_consumer) {
      --next.faults;
      c.phase = dead_consumer;
      out.chance(next, kConsumer + who, "is killed");
      next = s;
    }
    if (s.faults == 0) return;
    --next.faults;
    end_session(next, who);
    out.chance(next, kConsumer + who, "its session expires");
  }

  void consumer_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<ConsumerPhase>(s.consumers[who].phase)) {
      case looking: return claim(s, who, out);
      case working: return work(s, who, out);
      case acking: return ack(s, who, out);
      case ack_lost: return find_out(s, who, out);
      case counting: return count_late(s, who, out);
      case dead_consumer: return;
    }
  }

  static void claim(State s, size_t who, Steps<State>& out) {
    Item* item = std::find_if(s.items.begin(), s.items.end(), [](const Item& i) { return i.state == waiting; });
    if (item == s.items.end()) return;
    item->state = claimed;
    item->worker = static_cast<uint8_t>(who);
    go(s, who, working, out, "claims an item");
  }

  static void work(State s, size_t who, Steps<State>& out) {
    s.consumers[who].ack = done;
    go(s, who, acking, out, "does its item");
    if (s.failures == 0) return;
    --s.failures;
    s.consumers[who].ack = dead;
    s.consumers[who].phase = acking;
    out.chance(s, kConsumer + who, "fails for the last time");
  }

  void ack(const State& s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    State done = s;
    Item* item = item_of(done, who);
    const bool counts = item && !item->untagged && !c.bare;
    if (!item || (counts && !s.batch.there)) return go(s, who, ack_lost, out, "its ack finds no node");
    *item = {c.ack, 0, 0};
    const bool late = counts && is(Mutant::two_requests);
    if (counts && !late) write(done, counter_of(c));
    go(done, who, late ? counting : looking, out, c.ack == dead ? "buries its item" : "removes its item");
    if (s.faults == 0) return;
    for (State next : {s, done}) {
      --next.faults;
      next.consumers[who].phase = ack_lost;
      out.chance(next, kConsumer + who, "its ack is lost, or the answer");
    }
  }

  void find_out(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    if (!item_of(s, who)) return go(s, who, looking, out, "finds that its ack was done");
    c.bare = !s.batch.there && !is(Mutant::ack_loops);
    go(s, who, acking, out, c.bare ? "finds its claim, and no batch" : "finds its claim");
  }

  static void count_late(State s, size_t who, Steps<State>& out) {
    if (s.batch.there) write(s, counter_of(s.consumers[who]));
    go(s, who, looking, out, "counts its item");
  }

  // A sweep that fails is forgotten.
  void sweep(State s, Steps<State>& out) const {
    Sweeper& sweeper = s.sweeper;
    if (sweeper.sweeping) {
      const bool gone = !s.ephemeral || is(Mutant::unproved);
      const bool fits = (sweeper.marker == s.marker && sweeper.back == s.batch.back) || is(Mutant::sweep_any_version);
      const bool sweeps = s.batch.there && !s.deleted && gone && fits;
      sweeper = {};
      if (sweeps) delete_batch(s, false);
      return out.move(s, kSweeper, sweeps ? "deletes a batch" : "deletes nothing");
    }
    const bool may =
        s.batch.there && !is(Mutant::ephemeral) && !s.deleted && !s.ephemeral && (s.old || is(Mutant::at_once));
    if (!may || left_of(s.batch, s.marker) > 0) return;
    sweeper = {1, s.marker, s.batch.back};
    out.move(s, kSweeper, "finds a batch with nothing left, and no pusher");
  }

  static void pass_a_day(State s, Steps<State>& out) {
    if (!s.batch.there || s.old) return;
    const bool ended = (s.waiter.phase == over || s.waiter.phase == killed) && !s.ephemeral;
    s.old = 1;
    if (ended) return out.move(s, kNobody, "a day passes");
    if (!s.waiter.expired) return;
    s.excused = 1;
    out.chance(s, kNobody, "a day passes, while the pusher is suspended");
  }

  void change_queue(const State& s, Steps<State>& out) const {
    for (size_t i = 0; i < s.items.size(); ++i) {
      if (s.wishes > 0) purge(s, i, out);
      if (s.wishes > 0 && s.items[i].state == dead) requeue(s, i, out);
    }
    delete_queue(s, out);
    if (s.wishes == 0 || !s.batch.there) return;
    State next = s;
    --next.wishes;
    next.excused = 1;
    next.batch = {};
    next.marker = next.old = 0;
    out.chance(next, kNobody, "a person deletes the batch");
  }

  void purge(State s, size_t i, Steps<State>& out) const {
    Item& item = s.items[i];
    if (item.state != waiting && item.state != dead) return;
    --s.wishes;
    const bool counts = item.state == waiting ? !is(Mutant::purge_uncounted) : is(Mutant::letter_counted);
    if (counts && !item.untagged && s.batch.there) write(s, &Counters::purged);
    item.state = purged;
    out.chance(s, kNobody, "an item or a letter is purged");
  }

  void requeue(State s, size_t i, Steps<State>& out) const {
    --s.wishes;
    s.items[i].state = waiting;
    s.items[i].untagged = !s.batch.there || is(Mutant::untagged);
    if (!s.items[i].untagged && !is(Mutant::no_back)) write(s, &Counters::back);
    out.chance(s, kNobody, "a letter is put back");
  }

  // Like an item or a letter, pushing/T keeps the queue from being deleted.
  static void delete_queue(State s, Steps<State>& out) {
    if (s.deleted) {
      if (!s.batch.there) return;
      delete_batch(s, false);
      return out.move(s, kNobody, "the queue's batches are deleted");
    }
    const auto is_there = [](const Item& item) { return is_left(item) || item.state == dead; };
    if (s.wishes == 0 || s.ephemeral || std::any_of(s.items.begin(), s.items.end(), is_there)) return;
    --s.wishes;
    s.deleted = 1;
    out.chance(s, kNobody, "the queue is deleted");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::batch

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::batch::Batch>("batch", argc, argv);
}
