// SPDX-License-Identifier: Apache-2.0
// Pushers that start at once at a path where there is nothing: src/recipe/queue/pusher.cc, and make_queue() and
// QueueTail in nodes.cc. Each sends the transaction that makes the queue, the make, and its batches behind it in the
// same flight. Here a batch is one item. Meanwhile, consumers take items, and the queue may be deleted
// (delete_queue() in clearing.cc), or only the node for markers, or the node above the queue.
//
// Left out: segments that are sealed (push_model.cc), priorities, the input, and nodes that are removed with their
// children. A look at the queue is one moment, and so is a read behind a check (line_model.cc shows why). No limit on
// repetitions is reached. "May be in" is right here for any batch that was sent and not answered, although none behind
// a batch that was refused can be in.
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::make_queue {
namespace {

enum Status : uint8_t {
  to_come,
  queued,    // to be sent again
  sent,      // the server has it, or will have it
  half,      // only in a mutant: the server has done the first part
  done,      // the answer is on its way
  refused,   // the answer is on its way
  answered,  // but not taken in: the marker decides
  doubtful,  // no answer has come, nor will
  taken_in,
};

enum Phase : uint8_t {
  looking,     // Pusher::open
  pushing,     // Pusher::settle
  recovering,  // Pusher::await_all
  reading,     // Pusher::read_marker
  remaking,    // make_queue: looks whether there is one
  making,      // and sends the transaction
  opening,     // QueueTail::open
  finding,     // QueueTail::find
  over,        // with status 0
  failed,
};

constexpr uint8_t kNone = 255;  // no such pusher

enum Notes : uint8_t { warned = 1, said = 2 };  // reported as possibly in twice; as possibly in

struct Item {
  uint8_t status, marker;
  uint8_t times;  // how often it was put in
  uint8_t notes;
};

struct Pusher {
  std::array<Item, 2> items;
  uint8_t count;  // of items
  uint8_t phase;
  uint8_t make;        // its status, as that of the batch that it is
  uint8_t above;       // it is to make the node above the queue, too
  uint8_t next, read;  // the marker as the pusher knows it: marker_.next, marker_.done
  uint8_t marker;      // the node, as the number of batches that it counts; 0: there is none
  uint8_t expired, closed;
};

// The items that are said to be in doubt, by their numbers, counted from 1: recipe::ItemSpan.
struct Span {
  int first, last;
};

class MakeQueue {
 public:
  enum class Mutant {
    none,
    piecewise,
    uncounted,
    unread,
    unchained,
    deleted,
    forgotten,
    silent,
    counted,
    hasty,
    unheeded,
    stubborn
  };
  static constexpr std::array kMutants = {"the queue is made node by node",
                                          "the marker does not count the make",
                                          "sends again without reading the marker",
                                          "batches do not need the marker of the make",
                                          "a queue that is still to be made counts as deleted",
                                          "after an expiry, the queue is not made",
                                          "says nothing after an expiry",
                                          "a make without an answer is an item in doubt",
                                          "ends before the make is answered",
                                          "a queue is deleted under a pusher's marker",
                                          "a make that failed is sent again"};
  enum Error : uint8_t { fine, not_deleted, not_in_doubt };
  struct State {
    std::array<Pusher, 3> pushers;
    uint8_t above, queue, folders, markers, segment;  // the nodes; folders: all below the queue but that for markers
    uint8_t full;                                     // there are items in the queue
    uint8_t made;                                     // there was a queue once
    uint8_t deleted;                                  // it was deleted, or the node for markers
    uint8_t losses, expiries;
    uint8_t disturbances;  // deletes, removals, and pushers that are ended
    uint8_t chosen;        // how many items each has
    uint8_t error;
  };

  MakeQueue(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.losses = full_ ? 2 : 1;
    s.expiries = 1;
    s.disturbances = 1;
    return s;
  }

  // What a pusher no longer uses does not matter.
  void tidy(State& s) const {
    for (Pusher& p : s.pushers) {
      for (Item& item : p.items) {
        if (!is_in_flight(item.status) || item.status == queued) item.marker = 0;
      }
      if (p.phase == over || p.phase == failed) p.next = p.read = 0;
      if (p.closed) p.items = {};
    }
    if (s.disturbances == 0) s.full = 0;  // it matters only to a delete
  }

  const char* fault(const State& s) const {
    if (s.error == not_deleted) return "it says that the queue was deleted, and it was not";
    if (s.error == not_in_doubt) return "an item is said to be in doubt that was not sent, or was answered";
    if (s.queue && !s.folders) return "there is a queue that no consumer can use";
    for (const Pusher& p : s.pushers) {
      if (const char* wrong = fault_of(p)) return wrong;
      if (p.phase == over && p.closed && !s.made) return "it ends, and there is no queue";
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    return s.chosen && std::all_of(s.pushers.begin(), s.pushers.end(), [](const Pusher& p) { return p.closed; });
  }

  void steps(const State& s, Steps<State>& out) const {
    if (!s.chosen) return choose(s, out);
    outsiders(s, out);
    for (size_t who = 0; who < s.pushers.size(); ++who) {
      const Pusher& p = s.pushers[who];
      if (p.closed) continue;
      process(s, who, out);
      faults(s, who, out);
      if (p.phase == over || p.phase == failed) {
        close(s, who, out);
      } else if (p.expired && !is_done(p)) {
        renew(s, who, out);
      } else {
        go_on(s, who, out);
      }
    }
  }

 private:
  void choose(const State& s, Steps<State>& out) const {
    start(s, {2, 1, kNone}, out, "two push, one of them two items");
    start(s, {1, 0, full_ ? uint8_t{1} : kNone}, out, "one has no items");
  }
  static void start(State s, const std::array<uint8_t, 3>& counts, Steps<State>& out, const char* what) {
    s.chosen = 1;
    for (size_t who = 0; who < counts.size(); ++who) {
      s.pushers[who].count = counts[who];
      if (counts[who] != kNone) continue;
      s.pushers[who].count = 0;
      s.pushers[who].phase = failed;
      s.pushers[who].closed = 1;
    }
    out.move(s, kNobody, what);
  }

  static bool is_in_flight(uint8_t status) { return status >= queued && status <= doubtful; }
  static bool is_answerable(uint8_t status) { return status >= sent && status <= refused; }
  // What the pusher can know: it has sent it and has no answer.
  static bool is_doubtful(uint8_t status) { return is_answerable(status) || status == doubtful; }
  static bool is_making(const Pusher& p) { return is_in_flight(p.make); }
  static bool has_answerable(const Pusher& p) {
    return is_answerable(p.make) ||
           std::any_of(p.items.begin(), p.items.end(), [](const Item& item) { return is_answerable(item.status); });
  }
  static bool is_marked(const State& s) {
    return std::any_of(s.pushers.begin(), s.pushers.end(), [](const Pusher& p) { return p.marker > 0; });
  }
  bool is_done(const Pusher& p) const {
    const bool all = std::all_of(p.items.begin(), p.items.begin() + p.count,
                                 [](const Item& item) { return item.status == taken_in; });
    return p.phase == pushing && all && (p.make == taken_in || mutant_ == Mutant::hasty);
  }

  static const char* fault_of(const Pusher& p) {
    for (size_t i = 0; i < p.count; ++i) {
      const Item& item = p.items[i];
      if (i > 0 && item.times > 0 && p.items[i - 1].times == 0) return "items are not in order";
      if (item.times > 1 && !(item.notes & warned)) return "an item is in twice without a word";
      if (item.status == taken_in && item.times == 0) return "an item is lost that was said to be in";
      if (p.phase == failed && item.times > 0 && item.status != taken_in && item.notes == 0) {
        return "an item is in, and it was not said";
      }
    }
    return nullptr;
  }

  void outsiders(const State& s, Steps<State>& out) const {
    State next = s;
    if (s.full) {
      next.full = 0;
      out.chance(next, kNobody, "consumers take all items");
    }
    next = s;
    if (s.disturbances > 0 && s.queue && !s.full && (!is_marked(s) || mutant_ == Mutant::unheeded)) {
      next.queue = next.folders = next.markers = next.segment = 0;
      for (Pusher& p : next.pushers) p.marker = 0;
      next.deleted = 1;
      --next.disturbances;
      out.chance(next, kNobody, "the queue is deleted");
    }
    if (s.disturbances == 0) return;
    next = s;
    --next.disturbances;
    if (s.above && !s.queue) {
      next.above = 0;
      out.chance(next, kNobody, "the node above is removed");
    } else if (s.markers && !is_marked(s)) {
      next.markers = 0;
      next.deleted = 1;
      out.chance(next, kNobody, "the node for markers is removed");
    }
  }

  // The server takes the requests of a session in order. After an expiry, it takes none.
  void process(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (p.expired) return;
    if (p.make == sent && p.above) {
      s.above = 1;
      p.above = 0;
      return out.move(s, who, "the node above the queue is there");
    }
    if (p.make == sent || p.make == half) return process_make(s, who, out);
    const auto item = std::find_if(p.items.begin(), p.items.end(), [](const Item& i) { return i.status == sent; });
    if (item == p.items.end()) return;
    const bool in = s.segment && s.markers && (item->marker == p.marker || mutant_ == Mutant::unchained);
    item->status = in ? done : refused;
    if (in) {
      ++item->times;
      ++p.marker;
      s.full = 1;
    }
    out.move(s, who, in ? "an item is put in" : "a batch is refused");
  }

  // Mark, folders, segment and marker are made in one transaction.
  void process_make(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (p.make == sent && (s.queue || !s.above)) {
      p.make = refused;
      return out.move(s, who, "the make is refused");
    }
    s.queue = s.made = 1;
    if (mutant_ == Mutant::piecewise && p.make == sent) {
      p.make = half;
      return out.move(s, who, "the mark of the queue is made");
    }
    s.folders = s.markers = s.segment = 1;
    p.marker = 1;
    p.make = done;
    out.move(s, who, "the queue is made");
  }

  static void lose(Pusher& p) {
    const auto lost = [](uint8_t status) { return is_answerable(status) ? uint8_t{doubtful} : status; };
    p.make = lost(p.make);
    for (Item& item : p.items) item.status = lost(item.status);
    p.above = 0;
  }

  void faults(const State& s, size_t who, Steps<State>& out) const {
    const Pusher& p = s.pushers[who];
    State next = s;
    if (s.losses > 0 && has_answerable(p)) {
      --next.losses;
      lose(next.pushers[who]);
      if (p.phase == pushing) next.pushers[who].phase = recovering;
      out.chance(next, who, "the connection breaks");
    }
    next = s;
    if (s.expiries > 0 && !p.expired && p.phase < over) {
      --next.expiries;
      lose(next.pushers[who]);
      next.pushers[who].marker = 0;
      next.pushers[who].expired = 1;
      out.chance(next, who, "its session expires");
    }
    next = s;
    if (s.disturbances == 0 || p.phase == looking || p.phase >= over) return;
    --next.disturbances;
    fail(next, who);
    out.chance(next, who, "is ended before it has all answers");
  }

  // Pushing::run: says what is in doubt. What is on its way may still be done.
  void fail(State& s, size_t who) const {
    note_doubt(s, who, said);
    s.pushers[who].phase = failed;
  }
  void fail_deleted(State s, size_t who, Steps<State>& out) const {
    if (!s.deleted) s.error = not_deleted;
    fail(s, who);
    out.move(s, who, "fails: the queue was deleted");
  }

  // Pusher::unanswered. The make has no items, so its first one is 0.
  Span unanswered(const Pusher& p) const {
    Span span{0, 0};
    const auto add = [&span](uint8_t status, int first, int items) {
      if (!is_doubtful(status)) return;
      if (span.first == 0) span.first = first;
      span.last = first + items - 1;
    };
    const int counted = mutant_ == Mutant::counted ? 1 : 0;
    add(p.make, counted, counted);
    for (size_t i = 0; i < p.count; ++i) add(p.items[i].status, static_cast<int>(i + 1), 1);
    return span;
  }

  void note_doubt(State& s, size_t who, Notes note) const {
    const Span span = unanswered(s.pushers[who]);
    for (int i = std::max(span.first, 1); span.first > 0 && i <= span.last; ++i) {
      Item& item = s.pushers[who].items[static_cast<size_t>(i - 1)];
      item.notes |= note;
      if (!is_doubtful(item.status)) s.error = not_in_doubt;
    }
  }

  // Session::close, or the session is left to expire.
  static void close(State s, size_t who, Steps<State>& out) {
    Pusher& p = s.pushers[who];
    lose(p);
    p.marker = p.expired = 0;
    p.closed = 1;
    out.move(s, who, "its session is over");
  }

  // In a new session. The marker is gone with the old one.
  void renew(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (mutant_ != Mutant::silent) note_doubt(s, who, warned);
    p.next = p.read = p.expired = 0;
    if (is_making(p)) p.make = mutant_ == Mutant::forgotten ? taken_in : queued;
    for (Item& item : p.items) {
      if (is_in_flight(item.status)) item.status = queued;
    }
    p.phase = p.make == to_come ? looking : is_making(p) ? remaking : finding;
    out.move(s, who, "hears that its session is over, opens another");
  }

  void go_on(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.pushers[who].phase)) {
      case looking: return look(s, who, out);
      case pushing: take(s, who, out); return settle(s, who, out);
      case recovering: return await_all(s, who, out);
      case reading: return read_marker(s, who, out);
      case remaking: return look_again(s, who, out);
      case making: return make_alone(s, who, out);
      case opening: return open_segment(s, who, out);
      case finding: return find_tail(s, who, out);
      case over:
      case failed: return;
    }
  }

  static void send(Pusher& p, Item& item) {
    item.status = sent;
    item.marker = p.next++;
  }

  void look(State s, size_t who, Steps<State>& out) const {
    if (s.queue) return see_list(s, who, out, "finds the queue");
    send_making(s, who);
    out.move(s, who, "sends the make");
  }

  void send_making(State& s, size_t who) const {
    Pusher& p = s.pushers[who];
    p.above = !s.above;
    p.make = sent;
    p.next = mutant_ == Mutant::uncounted ? 0 : 1;
    p.phase = pushing;
  }

  // Pushing::take_items.
  static void take(State s, size_t who, Steps<State>& out) {
    Pusher& p = s.pushers[who];
    const auto item =
        std::find_if(p.items.begin(), p.items.begin() + p.count, [](const Item& i) { return i.status == to_come; });
    if (item == p.items.begin() + p.count) return;
    send(p, *item);
    out.move(s, who, "sends an item");
  }

  void settle(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (is_done(p)) {
      p.phase = over;
      return out.move(s, who, "ends: all is in");
    }
    uint8_t marker = 0;
    uint8_t* status = oldest(p, is_in_flight, marker);
    if (!status || (*status != done && *status != refused)) return;
    if (*status == refused) p.phase = recovering;
    if (*status == done) p.read = static_cast<uint8_t>(marker + 1);
    *status = *status == done ? taken_in : answered;
    out.move(s, who, *status == taken_in ? "hears that it is in" : "hears that it was refused");
  }

  // Returns the status of the first batch of a kind, and the version to which it brings the marker.
  static uint8_t* oldest(Pusher& p, bool (*test)(uint8_t), uint8_t& marker) {
    if (test(p.make)) return &p.make;
    for (Item& item : p.items) {
      marker = item.marker;
      if (test(item.status)) return &item.status;
    }
    return nullptr;
  }

  void await_all(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    uint8_t marker = 0;
    uint8_t* status = oldest(p, is_answerable, marker);
    if (status && *status != done && *status != refused) return;
    if (status) *status = answered;
    if (!status) p.phase = reading;
    out.move(s, who, status ? "hears of one behind it" : "has all answers that it gets");
  }

  // And Pusher::take_in_up_to. Without the node for markers, there is no queue, or it is none any more.
  void read_marker(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (!s.markers && (!is_making(p) || mutant_ == Mutant::deleted)) return fail_deleted(s, who, out);
    if (mutant_ == Mutant::unread) p.marker = p.read = 0;  // a marker of another name
    if (p.marker < p.read) return fail_deleted(s, who, out);
    const auto judge = [&p](uint8_t& status, uint8_t marker) {
      if (is_in_flight(status)) status = status != queued && marker < p.marker ? taken_in : queued;
    };
    judge(p.make, 0);
    for (Item& item : p.items) judge(item.status, item.marker);
    p.next = p.read = p.marker;
    p.phase = is_making(p) ? remaking : finding;
    out.move(s, who, "reads its marker");
  }

  void look_again(State s, size_t who, Steps<State>& out) const {
    if (mutant_ == Mutant::stubborn) {
      send_making(s, who);
      for (Item& item : s.pushers[who].items) {
        if (item.status == queued) send(s.pushers[who], item);
      }
      return out.move(s, who, "sends the make again");
    }
    if (s.queue) return see_list(s, who, out, "finds a queue");
    s.pushers[who].phase = making;
    s.pushers[who].above = !s.above;
    out.move(s, who, "finds no queue");
  }

  // QueueTail::find_in.
  static void see_list(State& s, size_t who, Steps<State>& out, const char* what) {
    s.pushers[who].phase = opening;
    if (s.segment) send_again(s.pushers[who]);
    out.move(s, who, what);
  }

  static void send_again(Pusher& p) {
    p.make = taken_in;
    p.phase = pushing;
    for (Item& item : p.items) {
      if (item.status == queued) send(p, item);
    }
  }

  // The transaction of make_queue: without a segment, and without a marker.
  static void make_alone(State s, size_t who, Steps<State>& out) {
    State next = s;
    next.above |= next.pushers[who].above;
    next.pushers[who].above = 0;
    const bool fits = next.above && !next.queue;
    if (!next.above) next.above = 1;  // Session::make_parents
    if (fits) next.queue = next.made = next.folders = next.markers = 1;
    next.pushers[who].phase = fits ? opening : remaking;
    out.move(next, who, fits ? "makes the queue" : "another was faster, or the node above is gone");
    lose_one(s, next, who, remaking, out);
  }

  // The version of the folder shows that there was no segment yet.
  static void open_segment(State s, size_t who, Steps<State>& out) {
    State next = s;
    const bool opens = s.queue && !s.segment;
    next.pushers[who].phase = finding;
    if (opens) {
      next.segment = 1;
      send_again(next.pushers[who]);
    }
    out.move(next, who, opens ? "opens a segment" : "another was faster");
    lose_one(s, next, who, finding, out);
  }

  static void lose_one(State s, State next, size_t who, Phase phase, Steps<State>& out) {
    if (s.losses == 0) return;
    next.pushers[who] = s.pushers[who];
    for (State* lost : {&s, &next}) {
      --lost->losses;
      lost->pushers[who].phase = phase;
      lost->pushers[who].above = 0;
    }
    out.chance(s, who, "the transaction is lost");
    out.chance(next, who, "the transaction is done, its answer is lost");
  }

  void find_tail(State s, size_t who, Steps<State>& out) const {
    if (!s.folders) return fail_deleted(s, who, out);
    see_list(s, who, out, "lists the segments");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::make_queue

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::make_queue::MakeQueue>("make_queue", argc, argv);
}
