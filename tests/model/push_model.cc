// SPDX-License-Identifier: Apache-2.0
// A pusher with several batches in flight, while others push too: src/recipe/queue/pusher.cc, nodes.cc, and
// src/command/queue/push.cc with its input. Here a batch is one item, and fills its segment.
// make_queue_model.cc shows how the queue is made.
//
// When the connection breaks, the server has done the first few of the batches that were sent, and the pusher knows of
// fewer still. None is done later: the marker is read behind a check, and line_model.cc shows why that is conclusive.
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::push {
namespace {

enum Status : uint8_t {
  to_come,   // not read yet
  dropped,   // read and lost
  queued,    // in flight, but not sent: Batch::call is empty
  sent,      // the server has it, or will have it
  done,      // the answer is on its way
  refused,   // the answer is on its way
  failed,    // the answer has come
  doubtful,  // no answer has come, nor will
  taken_in,
};

struct Item {
  uint8_t status;
  uint8_t times;   // how often it is in the queue
  uint8_t warned;  // reported as possibly in twice
  uint8_t segment, marker;
};

class Push {
 public:
  enum class Mutant { none, unchained, no_marker, silent, input_dropped, input_emptied, failed_only };
  static constexpr std::array kMutants = {"markers are not chained",
                                          "sends again without reading the marker",
                                          "says nothing after an expiry",
                                          "input is dropped during recovery",
                                          "the input's end empties what was not taken",
                                          "only what failed is sent again"};
  struct State {
    std::array<Item, 4> items;
    uint8_t count;          // of items
    uint8_t read, waiting;  // from the input; the item that was read and not taken, counted from 1
    uint8_t open_segment, marker;
    uint8_t tail, next_marker;  // as the pusher knows them
    uint8_t recovering, expired;
    uint8_t losses, expiries, seals;
  };

  Push(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.count = full_ ? 4 : 3;
    s.losses = full_ ? 3 : 2;
    s.expiries = s.seals = full_ ? 2 : 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    for (size_t i = 1; i < s.count; ++i) {
      if (s.items[i].times > 0 && s.items[i - 1].times == 0) return "items are not in order, or one is lost";
    }
    if (!is_settled(s)) return nullptr;
    for (size_t i = 0; i < s.count; ++i) {
      if (s.items[i].times == 0) return "an item is lost";
      if (s.items[i].times > 1 && !s.items[i].warned) return "an item is in twice without a word";
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    const auto over = [](const Item& item) { return item.status == taken_in || item.status == dropped; };
    return std::all_of(s.items.begin(), s.items.begin() + s.count, over);
  }

  void steps(const State& s, Steps<State>& out) const {
    read(s, out);
    process(s, out);
    faults(s, out);
    if (!s.recovering) take(s, out);
    answer(s, out);
    if (s.recovering) recover(s, out);
  }

 private:
  static bool is_in_flight(const Item& item) { return item.status >= queued && item.status <= doubtful; }
  static bool is_answerable(const Item& item) { return item.status >= sent && item.status <= refused; }
  // Returns the oldest of a kind.
  template <class Test>
  static Item* find(State& s, Test test) {
    const auto at = std::find_if(s.items.begin(), s.items.end(), test);
    return at == s.items.end() ? nullptr : &*at;
  }

  // host::StandardInput: reads one piece after another, at any turn of the loop.
  void read(State s, Steps<State>& out) const {
    if (mutant_ == Mutant::input_emptied && s.read == s.count && s.waiting != 0 && s.recovering) {
      s.items[s.waiting - 1].status = dropped;
      s.waiting = 0;
      return out.move(s, 0, "reads the end of its input");
    }
    const bool overwrites = s.waiting != 0 && s.recovering && mutant_ == Mutant::input_dropped;
    if (s.read == s.count || (s.waiting != 0 && !overwrites)) return;
    if (overwrites) s.items[s.waiting - 1].status = dropped;
    s.waiting = ++s.read;
    out.move(s, 0, "reads an item");
  }

  // Pushing::take_items, Pusher::add and flush.
  void take(State s, Steps<State>& out) const {
    const auto in_flight = std::count_if(s.items.begin(), s.items.end(), is_in_flight);
    if (s.waiting == 0 || in_flight >= (full_ ? 3 : 2)) return;
    send(s, s.items[s.waiting - 1]);
    s.waiting = 0;
    out.move(s, 0, "sends an item");
  }

  // Pusher::send. The batch seals its segment.
  static void send(State& s, Item& item) {
    item.status = sent;
    item.segment = s.tail++;
    item.marker = s.next_marker++;
  }

  // The transaction: checks the segment, writes the marker, makes items.
  void process(State s, Steps<State>& out) const {
    Item* item = find(s, [](const Item& i) { return i.status == sent; });
    if (!item || s.expired) return;
    const bool fits = item->marker == s.marker || mutant_ == Mutant::unchained;
    const bool in = item->segment == s.open_segment && fits;
    item->status = in ? done : refused;
    if (in) {
      ++item->times;
      ++s.marker;
      ++s.open_segment;
    }
    out.move(s, kNobody, in ? "an item is put in" : "a batch is refused");
  }

  // Pusher::settle.
  void answer(State s, Steps<State>& out) const {
    Item* item = find(s, is_in_flight);
    if (s.recovering) item = find(s, is_answerable);
    if (!item || (item->status != done && item->status != refused)) return;
    s.recovering |= item->status == refused;
    item->status = item->status == done ? taken_in : failed;
    out.move(s, 0, item->status == taken_in ? "hears that it is in" : "hears that it was refused");
  }

  static void faults(const State& s, Steps<State>& out) {
    State next = s;
    const bool any = std::any_of(s.items.begin(), s.items.end(), is_answerable);
    for (Item& item : next.items) item.status = is_answerable(item) ? uint8_t{doubtful} : item.status;
    next.recovering |= any;
    if (s.losses > 0 && any) {
      --next.losses;
      out.chance(next, 0, "the connection breaks");
      ++next.losses;
    }
    if (s.expiries > 0 && !s.expired) {
      --next.expiries;
      next.expired = 1;
      next.recovering = 1;
      next.marker = 0;
      out.chance(next, 0, "the session expires");
    }
    next = s;
    if (s.seals == 0) return;
    --next.seals;
    ++next.open_segment;
    out.chance(next, kNobody, "another pusher seals the segment");
  }

  // Pusher::recover: all answers first.
  void recover(State s, Steps<State>& out) const {
    if (find(s, is_answerable)) return;
    if (s.expired) {
      renew(s);
    } else {
      read_marker(s);
    }
    s.tail = s.open_segment;
    for (Item& item : s.items) {
      if (item.status == queued) send(s, item);
    }
    s.recovering = 0;
    out.move(s, 0, "recovers and sends again");
  }

  // Pusher::read_marker, take_in_up_to.
  void read_marker(State& s) const {
    if (mutant_ == Mutant::no_marker) s.marker = 0;  // a marker of another name
    for (Item& item : s.items) {
      if (!is_in_flight(item)) continue;
      const bool in = mutant_ != Mutant::no_marker && item.marker < s.marker;
      const bool passed_over = mutant_ == Mutant::failed_only && item.status != failed;
      item.status = in || passed_over ? taken_in : queued;
    }
    s.next_marker = s.marker;
  }

  // Pusher::renew, in a new session. An item that failed for certain is not doubtful.
  void renew(State& s) const {
    for (Item& item : s.items) {
      if (!is_in_flight(item)) continue;
      item.warned |= item.status == doubtful && mutant_ != Mutant::silent;
      item.status = queued;
    }
    s.marker = s.next_marker = s.expired = 0;
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::push

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::push::Push>("push", argc, argv);
}
