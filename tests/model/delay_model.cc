// SPDX-License-Identifier: Apache-2.0
// Delayed items, before they are built: pushers that put items below `later`, and consumers that take them when their
// time has come. Beside them run a purge, a requeue, `queue delete`, a consumer of an older version and a `pull --all`.
//
//   QUEUE                                  the mark: "zklock queue 1", or 2 if there is a folder `later`
//   QUEUE/later/T/PPP-SSSSSSSSSS/TOKEN-N   an item that is due at T, by the servers' clock
//
// The transactions, by the functions that stand for them (P is a segment, PPP-SSSSSSSSSS):
//   make_later     [write mark 2 at the version that was read, create later]. If it fails, the mark is read again.
//   process        a batch, here of one item. What the pusher last knew of T decides its form:
//                    absent   [marker, create T, create T/P, create items]
//                    bare     [marker, create T/P, create items]              T has segments of other priorities only
//                    open     [marker, check T/P at version 0, create items]
//                  If it fails, the marker is read behind a check, as always, and then `later` and T.
//   claim          [create claim]; in line [delete place, create claim]
//   remove         [delete the segments of T, delete T], sent for a due T in which no item was seen. not_empty: it
//                  stays. If the answer is lost, the next look decides.
//   purge          deletes the free items that it has listed in T, one by one, and then does the same, due or not.
//   remove_queue   does the same for each T without items, and then [delete later, all other folders and the queue].
//
// The first in line watches `later`, and each due T that is left with its segments. It sleeps until the earliest T that
// is not due. If it finds a due T without items when it sets the watches, it looks again. (The code must not do so if
// the removal was refused and no item is in sight: then a node that is not ours is below T.)
//
// Differs from the first design:
// - Each batch of delayed items has its own token. T may be removed and made again. Its numbers then start again, and
//   "T/P at version 0" does not show it, so a second batch with the same token could give another item the same name.
//   Another token for each T that we make is not enough, because another pusher may have made it.
// - A due T that stays is watched: T itself for segments of other priorities, and its segments. A late pusher puts its
//   item there, and the children of `later` do not change.
// - A consumer counts the servers' time from the arrival of the answer that brought it, so it is late, never early.
// - `bare` is a case of its own. Its segment is made in the batch, too.
// - A removed T may come back, so it must not be among what a consumer leaves out (ItemFinder::ended_).
// - A T that is gone is no deleted queue, as a missing folder is for QueueTail::find().
// - `pull --all` ends only if no change of the mark has come by the end of its last pass.
// - `queue delete` removes each T by itself. Otherwise its transaction has two steps for each T, maybe 10,000 of them.
// - A purge removes T as well. Otherwise it stays until it is due, and wakes the first in line for nothing.
// Two plain deletes, first of the segments and then of T, lose nothing: T stays `bare` for a moment. What loses items
// is a look, and then a removal of all that is below.
//
// Left out: the rounding and the number of T, segments that are sealed (push_model.cc), the order of items, lost
// answers of acks and in line (queue_model.cc), jumps of the servers' clock, pushers that are killed (a batch is one
// transaction), and the mark of a queue that is being deleted. A read behind a check or a sync is one moment
// (line_model.cc shows why), and so is a pass. A pusher's knowledge of T may be old when its batch arrives. `troubles`
// bounds the faults and the other programs in one history together.
#include "delay_state.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::delay {
namespace {

class Delay {
 public:
  enum class Mutant {
    none,
    from_asking,
    with_rest,
    unwatched,
    old_timer,
    unnoticed,
    behind_older,
    due_unwatched,
    segment_unwatched,
    one_token,
    token_of_maker,
    left_out,
    mark_apart,
    delete_apart,
    hasty,
    sealed_only,
    gone_is_deleted,
    unremoved,
    no_marker
  };
  static constexpr std::array kMutants = {"counts the servers' time from when it asked",
                                          "T is removed in two requests, with what came between",
                                          "no watch on later",
                                          "a timer is kept when a nearer T comes",
                                          "a change of the mark is not noticed",
                                          "sleeps behind an older consumer",
                                          "a due T is not watched",
                                          "a due T is not watched for another segment",
                                          "one token for all batches",
                                          "another token only for a T that it makes",
                                          "a T that was removed is left out",
                                          "the mark and later in two requests",
                                          "queue delete in two requests",
                                          "pull --all ends in spite of another mark",
                                          "T is removed only if its segment is sealed",
                                          "a T that is gone means that the queue was deleted",
                                          "sleeps over a due T without items",
                                          "sends again without reading the marker"};
  using State = delay::State;

  Delay(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.mark = 1;
    s.pushers[0].count = 2;
    for (Consumer& c : s.consumers) c.timer = kNever;
    s.consumers[1].phase = looking;  // since before the first push
    s.troubles = full_ ? 2 : 1;
    return s;
  }

  // What is no longer used does not matter, and neither does the order of the items.
  void tidy(State& s) const {
    for (Pusher& p : s.pushers) {
      for (Item& item : p.items) {
        if (item.status == queued || item.status == taken_in) item.form = item.marker = 0;
        if (item.status == taken_in && (item.times == 1 || item.warned)) item = {taken_in, 0, 0, 0, 1, 0};
      }
      const auto waits = [](const Item& item) { return item.status == to_come || item.status == queued; };
      if (std::none_of(p.items.begin(), p.items.begin() + p.count, waits)) p.belief = {};
      if (p.phase >= over) p = {p.items, p.count, p.phase, 0, 0, 0, {}, {}, 0};
    }
    for (Consumer& c : s.consumers) {
      if (c.phase < claiming || c.phase > removing) c.item = kNone;
      if (c.phase != sleeping) c.woken = c.watched = 0;
      if (c.phase != sleeping && mutant_ != Mutant::old_timer) c.timer = kNever;
      if (c.phase >= killed) c = {c.kind, c.phase, kNone, 0, 0, 0, 0, kNever, 0, 0};
    }
    sort_nodes(s);
  }

  const char* fault(const State& s) const {
    switch (static_cast<Error>(s.error)) {
      case fine: break;
      case early: return "an item is given out too early";
      case lost: return "an item is lost";
      case not_deleted: return "it says that the queue was deleted, and it was not";
      case same_name: return "two items may have the same name";
      case too_soon: return "pull --all ends, and an item was due when it began";
      case overflow: return "more items than the model has room for";
    }
    for (const Pusher& p : s.pushers) {
      for (const Item& item : p.items) {
        if (item.status == taken_in && item.times == 0) return "an item is lost that was said to be in";
        if (item.times > 1 && !item.warned) return "an item is in twice without a word";
      }
    }
    for (const Consumer& c : s.consumers) {
      if (c.phase == sleeping && !c.woken && !is_timer_over(s, c) && first_free(s, c) != kNone) {
        return "the first in line sleeps, and an item is due";
      }
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    const auto out = [](const Node& n) { return n.where == gone || n.where == dead; };
    const auto idle = [](const Consumer& c) { return c.phase == sleeping || c.phase == in_line || c.phase >= killed; };
    return std::all_of(s.nodes.begin(), s.nodes.end(), out) && std::ranges::all_of(s.consumers, idle) &&
           std::ranges::all_of(s.pushers, [](const Pusher& p) { return p.count == 0 || p.phase >= over; }) &&
           std::ranges::none_of(s.folders, [](const Folder& f) { return f.there != 0; });
  }

  void steps(const State& s, Steps<State>& out) const {
    tick(s, out);
    for (size_t who = 0; who < 2; ++who) {
      push(s, who, out);
      if (s.consumers[who].phase >= killed) continue;
      session_steps(s, who, out);
      consume(s, who, out);
    }
    outsiders(s, out);
  }

 private:
  // [delete the segments of T, delete T]
  void remove(State& s, size_t t) const {
    if (!s.folders[t].there || has_items(s, t)) return;
    s.folders[t] = {0, 0, s.folders[t].life};
    later_changed(s);
  }

  // A flight takes one tick at most.
  static void tick(State s, Steps<State>& out) {
    const auto waits = [&](const Consumer& c) { return c.phase == asking && c.lag < s.now; };
    if (s.now == kLast || std::ranges::any_of(s.consumers, waits)) return;
    ++s.now;
    out.move(s, kNobody, "time goes on");
  }

  // Wakes the consumer that watches `later`.
  void later_changed(State& s) const {
    for (Consumer& c : s.consumers) c.woken |= c.phase == sleeping && c.knows && mutant_ != Mutant::unwatched;
  }
  // ---- Pushers ----

  void push(const State& s, size_t who, Steps<State>& out) const {
    const Pusher& p = s.pushers[who];
    if (p.count == 0 || p.phase >= over) return;
    State next = s;
    if (p.phase == opening || p.phase == marking || p.phase == making_folder) return make_later(next, who, out);
    process(s, who, out);
    lose_session(s, who, out);
    if (p.recovering) return recover(next, who, out);
    send(s, who, out);
    const auto in = [](const Item& item) { return item.status == taken_in; };
    if (!std::all_of(p.items.begin(), p.items.begin() + p.count, in)) return;
    next.pushers[who].phase = over;
    out.move(next, who, "has pushed all");
  }

  void make_later(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (s.mark == 0) return fail(s, who, out);
    if (p.phase == opening) {
      p.phase = s.mark == 2 ? pushing : marking;
      return out.move(s, who, "reads the mark");
    }
    const State before = s;
    if (p.phase == making_folder) {
      s.later = 1;
      p.phase = pushing;
      return out.move(s, who, "makes later");
    }
    const bool first = s.mark == 1;
    p.phase = !first ? opening : mutant_ == Mutant::mark_apart ? making_folder : pushing;
    s.mark = 2;
    s.later |= first && mutant_ != Mutant::mark_apart;
    out.move(s, who, first ? "writes mark 2 and makes later" : "finds another mark");
    if (s.troubles == 0 || mutant_ == Mutant::mark_apart) return;
    for (State next : {before, s}) {
      --next.troubles;
      next.pushers[who].phase = opening;
      out.chance(next, who, "loses the answer about the mark");
    }
  }

  void send(const State& s, size_t who, Steps<State>& out) const {
    for (size_t i = 0; i < s.pushers[who].count; ++i) {
      const Item& item = s.pushers[who].items[i];
      if (item.status != to_come && item.status != queued) continue;
      const bool chooses = item.status == to_come && i == 0 && who == 0;
      for (uint8_t t = 0; t < (chooses ? 2 : 1); ++t) {
        State next = s;
        Item& sending = next.pushers[who].items[i];
        if (item.status == to_come) sending.t = t;
        send_item(next, next.pushers[who], sending);
        out.move(next, who, sending.t == 0 ? "sends an item for 1" : "sends an item for 2");
      }
      return;
    }
  }

  // Looks at T if it does not know it, and relies on this transaction for those that follow.
  void send_item(const State& s, Pusher& p, Item& item) const {
    uint8_t& belief = p.belief[item.t];
    const Folder& folder = s.folders[item.t];
    if (belief == unknown) belief = !folder.there ? absent : folder.segments & bit(p.priority) ? open : bare;
    if (mutant_ != Mutant::one_token && (mutant_ != Mutant::token_of_maker || belief != open)) p.used[item.t] = 0;
    item.form = belief;
    item.marker = p.next++;
    item.status = sent;
    belief = open;
  }

  // The transaction of a batch. The server takes the requests of a session in order.
  void process(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    const auto item = std::ranges::find(p.items, sent, &Item::status);
    if (item == p.items.end()) return;
    const State before = s;
    const bool in = s.later && item->marker == p.marker && fits(s, p, *item);
    item->status = in ? taken_in : failed;
    p.recovering |= !in;
    if (in) put_in(s, p, *item);
    out.move(s, who, in ? "its item is put in" : "its item is refused");
    if (s.troubles == 0) return;
    for (State next : {before, s}) {
      --next.troubles;
      for (size_t i = static_cast<size_t>(item - p.items.begin()); i < 2; ++i) {
        Item& other = next.pushers[who].items[i];
        if (i == static_cast<size_t>(item - p.items.begin()) || other.status == sent) other.status = doubtful;
      }
      next.pushers[who].recovering = 1;
      out.chance(next, who, "loses the connection before an answer");
      if (!in) return;
    }
  }
  static bool fits(const State& s, const Pusher& p, const Item& item) {
    const Folder& folder = s.folders[item.t];
    const bool segment = folder.segments & bit(p.priority);
    return item.form == absent ? !folder.there : folder.there && segment == (item.form == open);
  }
  void put_in(State& s, Pusher& p, Item& item) const {
    Folder& folder = s.folders[item.t];
    const auto node = std::ranges::find(s.nodes, gone, &Node::where);
    if (node == s.nodes.end()) {
      s.error = overflow;
      return;
    }
    ++p.marker;
    ++item.times;
    *node = {static_cast<uint8_t>(at_1 + item.t), 0};
    const bool counts = mutant_ == Mutant::one_token || mutant_ == Mutant::token_of_maker;
    if (!folder.there && counts) ++folder.life;
    if (p.used[item.t] != 0 && p.used[item.t] != folder.life) s.error = same_name;
    p.used[item.t] = folder.life;
    if (item.form == absent) later_changed(s);
    if (item.form != bare || mutant_ != Mutant::segment_unwatched) changed(s, *node);
    folder.there = 1;
    folder.segments |= bit(p.priority);
  }

  // Pusher::renew, in a new session.
  static void lose_session(State s, size_t who, Steps<State>& out) {
    Pusher& p = s.pushers[who];
    if (s.troubles == 0) return;
    --s.troubles;
    for (Item& item : p.items) {
      if (item.status == to_come || item.status == taken_in) continue;
      item.warned |= item.status == sent || item.status == doubtful;
      item.status = queued;
    }
    p.marker = p.next = p.recovering = 0;
    p.belief = {};
    out.chance(s, who, "loses its session, and opens another");
  }

  // Pusher::recover: all answers first, then the marker, then later and T.
  void recover(State s, size_t who, Steps<State>& out) const {
    Pusher& p = s.pushers[who];
    if (std::ranges::find(p.items, sent, &Item::status) != p.items.end()) return;
    const bool t_gone = std::ranges::any_of(p.items, [&](const Item& item) {
      return item.status == failed && item.form == open && !s.folders[item.t].there;
    });
    if (s.mark == 0 || !s.later || (t_gone && mutant_ == Mutant::gone_is_deleted)) return fail(s, who, out);
    for (Item& item : p.items) {
      if (item.status != failed && item.status != doubtful) continue;
      const bool in = item.marker < p.marker && mutant_ != Mutant::no_marker;
      item.status = in ? taken_in : queued;
    }
    p.next = p.marker;
    p.belief = {};
    p.recovering = 0;
    out.move(s, who, "recovers");
  }
  static void fail(State s, size_t who, Steps<State>& out) {
    if (s.mark != 0) s.error = not_deleted;
    s.pushers[who].phase = refused;
    out.move(s, who, "fails: the queue was deleted");
  }

  // ---- Consumers ----

  static void go(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
    next.consumers[who].phase = phase;
    out.move(next, who, what);
  }
  // `done` is the state if it was done before its answer was lost.
  static void lose(const State& s, const State& done, size_t who, Phase phase, Steps<State>& out) {
    if (s.troubles == 0) return;
    for (State next : {s, done}) {
      --next.troubles;
      next.consumers[who].phase = phase;
      out.chance(next, who, "loses the answer");
    }
  }

  static bool is_due(const State& s, const Consumer& c, size_t t) { return s.now - c.lag >= time_of(t); }
  static bool is_timer_over(const State& s, const Consumer& c) { return c.timer != kNever && s.now - c.lag >= c.timer; }
  static bool sees(const State& s, const Consumer& c, const Node& n) {
    if (!is_delayed(n)) return n.where == plain;
    return c.knows && is_due(s, c, t_of(n)) && !(c.left_out & bit(t_of(n)));
  }
  // Returns the free one with the earliest T.
  static uint8_t first_free(const State& s, const Consumer& c) {
    uint8_t best = kNone;
    for (uint8_t i = 0; i < s.nodes.size(); ++i) {
      if (s.nodes[i].owner != 0 || !sees(s, c, s.nodes[i])) continue;
      if (best == kNone || s.nodes[i].where < s.nodes[best].where) best = i;
    }
    return best;
  }
  uint8_t first_empty(const State& s, const Consumer& c) const {
    for (uint8_t t = 0; t < 2; ++t) {
      const bool empty = s.folders[t].there && !has_items(s, t) && c.knows && is_due(s, c, t);
      if (empty && mutant_ != Mutant::sealed_only && !(c.left_out & bit(t))) return t;
    }
    return kNone;
  }

  // A place of an older version has no "queue":2 in its note.
  bool acts_as_first(const State& s, size_t who) const {
    const bool older = s.line[0] != 0 && s.consumers[s.line[0] - 1].kind == is_older;
    return s.line[0] == who + 1 || (older && mutant_ != Mutant::behind_older);
  }

  void session_steps(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    State next = s;
    if (s.mark == 2 && !c.knows && c.phase > asking && c.kind != is_older && mutant_ != Mutant::unnoticed) {
      next.consumers[who].knows = next.consumers[who].woken = 1;
      out.move(next, who, "hears that the mark has changed");
    }
    if (s.troubles == 0 || c.phase <= asking) return;
    --s.troubles;
    next = s;
    end_session(next, who);
    next.consumers[who].left_out = 0;
    next.consumers[who].phase = looking;
    out.chance(next, who, "loses its session, and opens another");
    if (who != 0) return;  // one of them lives on
    c.phase = killed;
    out.chance(s, who, "is killed, or frozen");
  }

  void consume(const State& s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    if (s.mark == 0) return go(s, who, ended, out, "ends: the queue was deleted");
    switch (static_cast<Phase>(c.phase)) {
      case starting:
      case asking: return start(s, who, out);
      case looking: return look(s, who, out);
      case claiming: return claim(s, who, out);
      case claim_lost: return find_out(s, who, out);
      case working: return work(s, who, out);
      case removing: return remove_folder(s, who, out);
      case in_line:
        if (acts_as_first(s, who)) look(s, who, out);
        return;
      case sets_watches: return watch(s, who, out);
      case sleeping:
        if (c.woken || is_timer_over(s, c)) go(s, who, in_line, out, c.woken ? "is woken" : "wakes up at T");
        return;
      case killed:
      case ended: return;
    }
  }

  // Reads the mark behind a sync, with a watch, and asks for the time.
  void start(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    const auto now = static_cast<int8_t>(s.now);
    if (c.phase == asking) {
      c.lag = static_cast<int8_t>(mutant_ == Mutant::from_asking ? c.lag - now : now - c.lag);
      c.knows = s.mark == 2 && c.kind != is_older;
      return go(s, who, looking, out, "hears the time and the mark");
    }
    c.lag = now;
    c.phase = asking;
    out.move(s, who, "asks for the time and the mark");
    if (s.troubles == 0) return;
    --s.troubles;
    c.kind = is_older;
    out.chance(s, who, "is of an older version");
    c.kind = takes_all;
    c.began = s.now;
    out.chance(s, who, "is pull --all");
  }

  // A pass behind a sync. No change of the mark is missed by its end: the event comes before the list.
  void look(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    if (c.knows && !s.later) s.error = not_deleted;
    c.item = first_free(s, c);
    if (c.item != kNone) return go(s, who, claiming, out, "finds an item");
    c.item = first_empty(s, c);
    if (c.item != kNone) return go(s, who, removing, out, "finds a T without items");
    if (c.kind == takes_all) return end_all(s, who, out);
    if (is_in_line(s, who)) return go(s, who, sets_watches, out, "finds nothing");
    s.line[s.line[0] == 0 ? 0 : 1] = static_cast<uint8_t>(who + 1);
    go(s, who, in_line, out, "finds nothing, and stands in line");
  }
  void end_all(State s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    const auto in_work = [&](const Node& n) { return n.owner != 0 && sees(s, c, n); };
    const bool again = s.mark == 2 && !c.knows && mutant_ != Mutant::hasty;
    if (again || std::ranges::any_of(s.nodes, in_work)) return;
    const auto was_due = [&](const Node& n) {
      return n.where == plain || (is_delayed(n) && time_of(t_of(n)) <= c.began);
    };
    if (std::ranges::any_of(s.nodes, was_due)) s.error = too_soon;
    go(s, who, ended, out, "ends: all is done");
  }

  void claim(const State& s, size_t who, Steps<State>& out) const {
    const uint8_t at = s.consumers[who].item;
    if (at == kNone) return go(s, who, back(s, who), out, "another one has ended it");
    State done = s;
    Node& node = done.nodes[at];
    const bool is_free = node.owner == 0 && (is_delayed(node) || node.where == plain);
    if (!is_free) return go(s, who, back(s, who), out, "another one was faster");
    node.owner = static_cast<uint8_t>(who + 1);
    if (is_delayed(node) && s.now < time_of(t_of(node))) done.error = early;
    leave_line(done, who);
    go(done, who, working, out, "claims the item");
    lose(s, done, who, claim_lost, out);
  }
  static void find_out(const State& s, size_t who, Steps<State>& out) {
    const uint8_t at = s.consumers[who].item;
    if (at != kNone && s.nodes[at].owner == who + 1) return go(s, who, working, out, "finds its claim");
    go(s, who, back(s, who), out, "finds that it has no claim");
  }

  void work(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    remove_node(next, next.nodes[s.consumers[who].item]);
    go(next, who, looking, out, "does the item");
    if (s.troubles == 0) return;
    next = s;
    --next.troubles;
    Node& node = next.nodes[s.consumers[who].item];
    next.consumers[who].phase = looking;
    free_node(next, node);
    out.chance(next, who, "gives the item back");
    remove_node(next, node);
    node.where = dead;
    out.chance(next, who, "makes it a dead letter");
  }

  void remove_folder(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    const uint8_t t = c.item;
    const State before = s;
    if (mutant_ == Mutant::with_rest && has_items(s, t)) s.error = lost;
    if (mutant_ == Mutant::left_out) c.left_out |= bit(t);
    remove(s, t);
    go(s, who, back(s, who), out, "removes T if it has no items");
    lose(before, s, who, back(s, who), out);
  }

  // Sets the watches, and lists again with them.
  void watch(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    const bool empty = first_empty(s, c) != kNone && mutant_ != Mutant::unremoved;
    if (first_free(s, c) != kNone || empty) return go(s, who, in_line, out, "sees a change");
    uint8_t timer = kNever;
    for (uint8_t t = 2; t-- > 0;) {
      if (!s.folders[t].there || !c.knows) continue;
      if (!is_due(s, c, t)) timer = static_cast<uint8_t>(time_of(t));
      if (is_due(s, c, t) && mutant_ != Mutant::due_unwatched) c.watched |= bit(t);
    }
    const bool keeps = mutant_ == Mutant::old_timer && c.timer != kNever && !is_timer_over(s, c);
    if (!keeps) c.timer = timer;
    go(s, who, sleeping, out, "sleeps");
  }

  // ---- Others ----

  void outsiders(const State& s, Steps<State>& out) const {
    for (size_t who = 0; who < 2; ++who) {
      if (s.consumers[who].phase != killed) continue;
      State next = s;
      end_session(next, who);
      next.consumers[who].phase = ended;
      out.move(next, kNobody, "the session of a killed consumer expires");
    }
    requeue(s, out);
    start_others(s, out);
    if (s.purge != 0) purge(s, out);
    if (s.deletion != idle) remove_queue(s, out);
  }

  static void requeue(State s, Steps<State>& out) {
    const auto letter = std::ranges::find(s.nodes, dead, &Node::where);
    if (letter == s.nodes.end() || s.mark == 0) return;
    letter->where = plain;
    changed(s, *letter);
    out.chance(s, kNobody, "a dead letter is put back");
  }

  void start_others(State s, Steps<State>& out) const {
    if (s.troubles == 0 || s.mark == 0) return;
    --s.troubles;
    for (uint8_t priority = 0; priority < 2 && s.pushers[1].count == 0; ++priority) {
      State next = s;
      next.pushers[1].count = 1;
      next.pushers[1].priority = priority;
      if (full_ || leaves_room(next, priority)) out.chance(next, 1, "begins to push");
    }
    for (uint8_t t = 0; t < 2 && s.purge == 0; ++t) {
      State next = s;
      next.purge = static_cast<uint8_t>(t + 1);
      if (s.folders[t].there) out.chance(next, kNobody, "a purge comes to a T");
    }
    s.deletion = begun;
    out.chance(s, kNobody, "a deletion begins");
  }
  // The small size has another pusher beside two items or two consumers.
  static bool leaves_room(State& s, uint8_t priority) {
    if (priority == 0) {
      const bool starts = s.consumers[0].phase == starting;
      s.consumers[0].phase = ended;
      return starts;
    }
    const bool starts = s.pushers[0].items[1].status == to_come;
    s.pushers[0].count = 1;
    return starts;
  }

  // purge_queue. Which of the items it has listed does not matter: it deletes some, and then tries to remove T.
  void purge(const State& s, Steps<State>& out) const {
    const auto t = static_cast<size_t>(s.purge - 1);
    for (size_t i = 0; i < s.nodes.size(); ++i) {
      if (s.nodes[i].where != at_1 + t || s.nodes[i].owner != 0) continue;
      State next = s;
      remove_node(next, next.nodes[i]);
      out.move(next, kNobody, "the purge removes an item");
    }
    State next = s;
    next.purge = 0;
    out.chance(next, kNobody, "the purge is killed");
    remove(next, t);
    out.move(next, kNobody, "the purge removes T if it has no items");
  }

  // delete_queue. It refuses while there are items, markers or places.
  void remove_queue(State s, Steps<State>& out) const {
    const auto there = [](const Node& n) { return n.where != gone; };
    const bool used = std::ranges::any_of(s.nodes, there) || s.line[0] != 0 ||
                      std::ranges::any_of(s.pushers, [](const Pusher& p) { return p.marker != 0; });
    const bool apart = mutant_ == Mutant::delete_apart && s.later && s.deletion != halfway;
    for (size_t t = 0; t < 2; ++t) {
      if (!s.folders[t].there || has_items(s, t)) continue;
      remove(s, t);
      return out.move(s, kNobody, "the deletion removes a T without items");
    }
    if (apart && !s.folders[0].there && !s.folders[1].there) {
      s.later = 0;
      s.deletion = halfway;
      return out.move(s, kNobody, "the deletion removes later");
    }
    s.deletion = idle;
    if (used) return out.move(s, kNobody, "the deletion is refused");
    s.mark = s.later = 0;
    out.move(s, kNobody, "the queue is deleted");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::delay

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::delay::Delay>("delay", argc, argv);
}
