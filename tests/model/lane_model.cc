// SPDX-License-Identifier: Apache-2.0
// `queue push --one-per` and `queue pull --gap`, before they are built. A key's items lie in its lane. Consumers claim
// the lane's one turn, which is an item without bytes. The transactions:
//
//     push, lane seen     write marker; check the lane's open segment; create item in it; write `in`
//     push, no lane seen  write marker; check the open segment; create lane, its segment, turn, item; write `in`
//     claim               create the claim below the turn; list the lane behind it, then its first segment
//     done                delete claim, turn, item; write `out`; create the next turn: with --gap, in `resting`
//     dead                the same, and create letter and why
//     retry, release      delete claim; a release takes the attempt back, but not the count of claims (made_in)
//     lane empty          delete claim, turn, the lane's segments, lane; refused: list again
//     done, without gap   may be one with "lane empty"; refused: the ordinary one
//     requeue             delete letter and why, and a push without a marker
//     purge, turn free    claim; delete items, write `out`; then "lane empty", or delete claim
//     purge, turn taken   check the lane's first item; delete the others, write `out`
//     queue delete        delete folders, and turn, segments and lane of each lane without items; all or nothing
//
// Two pushers with two batches in flight meet two consumers that begin again when they have died, an administrator that
// purges, requeues or deletes, a hand that deletes an item in work, and an older consumer in the idle line. In time
// there is only "within the gap" and "after it". A request that is refused because a segment of turns is sealed is sent
// again, as one that was lost, so only the segments of lanes are here.
//
// Differs from the first design:
//  1. A purge below a turn that is taken checks the first item. Otherwise it may delete an item that became the first
//     after its list, and is in work. The turn is no substitute: if a hand deletes the first item and the consumer
//     dies, the second item comes under the same turn.
//  2. A purge removes a lane only if its turn is due and had no claim before, because otherwise a gap may run. If not,
//     or if the lane has an item again, the purge gives the turn back. It does not list again.
//  3. `queue delete` also deletes lanes without items. Without consumers, those of 2 would keep it from ending.
//  4. A turn that was claimed before is held for the gap before "lane empty", too: a purge may have removed the item.
//  5. A lane's first segment may be empty and sealed. A consumer with the claim deletes it and lists the next.
//  6. An ack that goes without its item, because that is missing, still writes `out`.
//  7. A pusher takes a new token for each lane that it makes. A lane that is made again numbers its items from 0, so a
//     letter could have the name of an older one, and no consumer could ever end that item.
//
// Left out: doubles after the expiry of a pusher's session (push_model.cc), the watches of the idle line and lost
// places in it (queue_model.cc), the folders of `resting` as they come and go (as those of delayed items), batches of
// several items, consumers of one queue with different gaps, and servers that lag. A turn is found in a list, so reads
// behind its claim show at least what the ack that made it has done. A writer's belief may be old here, and its
// transaction decides. Item names that come back, as in 7, do no harm to 1: what is first is not deleted.
#include "lane_admin.h"
#include "lane_push.h"
#include "run.h"

namespace zklock::model::lane {
namespace {

class LaneQueue {
 public:
  using State = lane::State;
  using Mutant = lane::Mutant;
  static constexpr std::array kMutants = {"each push makes a turn",
                                          "a lane is made before its turn",
                                          "an ack removes the turn before it makes the next",
                                          "the lane is listed before the claim",
                                          "the lane goes with its last item",
                                          "a killed consumer's turn is begun",
                                          "a release takes back what shows a gap",
                                          "the next turn does not rest",
                                          "sends again without reading the marker",
                                          "markers are not chained",
                                          "an item is put blindly into a lane",
                                          "a purge does not check the first item",
                                          "a purge removes a lane in its gap",
                                          "a purge deletes the first item of a turn in work",
                                          "an empty lane is removed at once",
                                          "an empty first segment is an empty lane",
                                          "an ack asks for a missing item",
                                          "an ack without its item is not counted",
                                          "a delete forgets what rests",
                                          "a consumer behind an older one sleeps",
                                          "a pusher keeps its token when it makes a lane"};

  LaneQueue(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant), pushers_(mutant), admin_(mutant) {}

  State first() const {
    State s{};
    for (Lane& lane : s.lanes) clear(lane);
    for (Consumer& c : s.consumers) c = kIdle;
    for (Item& item : s.items) item.push = to_come;
    s.line.fill(kNone);
    s.admin.listed.fill(kNone);
    return s;
  }
  // What is no longer used does not matter.
  void tidy(State& s) const {
    for (size_t who = 0; who < 2; ++who) {
      if (has_ended(s, who)) s.pushers[who] = {};
      Consumer& c = s.consumers[who];
      if (c.phase != claim_lost && (c.phase != waiting || s.lanes[c.key].made < 2)) c.wait = 0;
    }
    for (Lane& lane : s.lanes) {
      if (mutant_ != Mutant::attempts) lane.taken_back = 0;
      if (mutant_ != Mutant::old_token) lane.counter = 0;
      if (lane.first_segment == 1) forget_segment(s, lane);
    }
  }

  const char* fault(const State& s) const {
    if (s.error) return kErrors[s.error];
    if (s.consumers[0].phase == working && s.consumers[1].phase == working &&
        s.consumers[0].key == s.consumers[1].key) {
      return "two items of a key are in work";
    }
    for (const Lane& lane : s.lanes) {
      if (lane.turns != lane.exists) return "a lane does not have one turn";
    }
    const auto is_counted = [](const Item& i) { return i.life == live || i.life == by_hand; };
    if (s.count != std::count_if(s.items.begin(), s.items.end(), is_counted)) return "the items are miscounted";
    for (const Consumer& c : s.consumers) {
      if (c.phase != working) continue;
      const uint8_t life = s.items[c.item].life;
      if (life != live && life != by_hand) return "an item that is gone is in work";
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    if (s.deleted) return true;
    const auto pushed = [](const Item& i) { return i.push >= in && i.life != live; };
    const auto rests = [](const Consumer& c) { return c.phase == looking || c.phase == standing; };
    return s.begun && s.admin.task == idle && !s.lanes[0].exists && !s.lanes[1].exists &&
           std::all_of(s.items.begin(), s.items.end(), pushed) &&
           std::all_of(s.consumers.begin(), s.consumers.end(), rests);
  }

  void steps(const State& s, Steps<State>& out) const {
    if (s.deleted) return;
    if (!s.begun) return choose(s, out);
    time_passes(s, out);
    for (size_t who = 0; who < 2; ++who) {
      pushers_.steps(s, who, out);
      die(s, who, out);
      consumer_steps(s, who, out);
    }
    admin_.steps(s, out);
    outsiders(s, out);
  }

 private:
  // What there is to do: few items and much luck, or the reverse; one key or two; consumers with --gap or without.
  void choose(State s, Steps<State>& out) const {
    s.begun = 1;
    for (const size_t items : {size_t{2}, size_t{3}, size_t{4}}) {
      if (items == 4 && !full_) continue;
      s.luck = static_cast<uint8_t>((full_ ? 5 : 4) - items);
      for (size_t i = 0; i < kItems; ++i) s.items[i].push = i < items ? to_come : dropped;
      for (const uint8_t key : {uint8_t{0}, uint8_t{1}}) {
        s.items[2].key = key;
        s.gap = 1;
        if (items > 2 || key == 0) out.move(s, kNobody, key ? "two keys, --gap" : "one key, --gap");
        s.gap = 0;
        if (items == 2 && key == 0) out.move(s, kNobody, "one key, no --gap");
      }
    }
  }

  static void time_passes(State s, Steps<State>& out) {
    for (Lane& lane : s.lanes) lane.due_in = lane.rest = 0;
    for (Consumer& c : s.consumers) c.wait = 0;
    out.move(s, kNobody, "the time of the gap passes");
  }

  // The command of a consumer that dies, or loses its session, ends before its claim goes.
  static void die(State s, size_t who, Steps<State>& out) {
    Consumer& c = s.consumers[who];
    if (c.phase == looking || c.phase == standing || !spend(s)) return;
    for (Lane& lane : s.lanes) {
      if (lane.owner == who) lane.owner = kNone;
    }
    if (c.phase == working) s.lanes[c.key].rest = s.gap;
    leave_line(s, static_cast<uint8_t>(who));
    c = kIdle;
    out.chance(s, who, "is killed, or its session expires, and it begins again");
  }

  void consumer_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.consumers[who].phase)) {
      case looking: return look(s, who, out);
      case standing:
        if (acts_as_first(s, who)) claim(s, who, out);
        return;
      case peeked: return claim_key(s, who, s.consumers[who].key, out);
      case claim_lost: return find_claim(s, who, out);
      case waiting: return wait(s, who, out);
      case working: return work(s, who, out);
      case removing:
      case burying: return end_item(s, who, out);
      case returning:
      case releasing: return give_back(s, who, out);
      case emptying: return remove_empty(s, who, out);
      case ack_lost: return find_out(s, who, out);
    }
  }

  static void go(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
    next.consumers[who].phase = phase;
    if (phase == looking) next.consumers[who] = kIdle;
    out.move(next, who, what);
  }
  // `done` is the state if it was done before its answer was lost.
  static void lose(State s, State done, size_t who, Phase phase, Steps<State>& out) {
    if (!spend(s)) return;
    done.luck = s.luck;
    for (State* next : {&s, &done}) {
      next->consumers[who].ack = next->consumers[who].phase;
      next->consumers[who].phase = phase;
    }
    out.chance(s, who, "the request is lost, or refused for its segment");
    out.chance(done, who, "the request is done, its answer is lost");
  }

  void look(State s, size_t who, Steps<State>& out) const {
    if (mutant_ == Mutant::list_first) {
      for (uint8_t key = 0; key < 2; ++key) {
        State next = s;
        next.consumers[who].key = key;
        next.consumers[who].item = s.lanes[key].order[0];
        if (next.consumers[who].item != kNone) go(next, who, peeked, out, "lists a lane");
      }
    } else {
      claim(s, who, out);
    }
    if (is_free(s.lanes[0]) || is_free(s.lanes[1])) return;
    *std::find(s.line.begin(), s.line.end(), kNone) = static_cast<uint8_t>(who);
    go(s, who, standing, out, "finds nothing and stands in the idle line");
  }

  // An older consumer does not see turns, so a consumer directly behind it acts as the first.
  bool acts_as_first(const State& s, size_t who) const {
    const auto at = std::find(s.line.begin(), s.line.end(), who);
    return at == s.line.begin() || (*(at - 1) == kOld && mutant_ != Mutant::behind_old);
  }

  void claim(const State& s, size_t who, Steps<State>& out) const {
    for (uint8_t key = 0; key < 2; ++key) claim_key(s, who, key, out);
  }

  // A consumer in the idle line leaves it in the same transaction.
  void claim_key(State s, size_t who, uint8_t key, Steps<State>& out) const {
    Lane& lane = s.lanes[key];
    if (!is_free(lane)) {
      if (s.consumers[who].phase == peeked) go(s, who, looking, out, "finds the turn claimed or gone");
      return;
    }
    State done = s;
    s.consumers[who].key = done.consumers[who].key = key;
    claim_turn(done.lanes[key], static_cast<uint8_t>(who));
    leave_line(done, static_cast<uint8_t>(who));
    done.consumers[who].wait = s.gap;
    if (s.consumers[who].phase == peeked) {
      return go(done, who, lane.made > 0 ? waiting : working, out, "claims a turn whose lane it has listed before");
    }
    list(done, who, out, "claims a turn");
    lose(s, done, who, claim_lost, out);
  }

  void find_claim(const State& s, size_t who, Steps<State>& out) const {
    if (s.lanes[s.consumers[who].key].owner == who) return list(s, who, out, "finds its claim");
    const bool stands = std::find(s.line.begin(), s.line.end(), who) != s.line.end();
    go(s, who, stands ? standing : looking, out, "finds no claim");
  }

  // What comes into the lane between the claim and the list might have come before the claim. The lane's first segment
  // may be sealed and empty, and is deleted.
  void list(State s, size_t who, Steps<State>& out, const char* what) const {
    Consumer& c = s.consumers[who];
    Lane& lane = s.lanes[c.key];
    c.item = lane.order[0];
    if (c.item != kNone && s.items[c.item].segment > lane.first_segment && mutant_ == Mutant::empty_segment) {
      c.item = kNone;
    } else if (c.item == kNone || s.items[c.item].segment > lane.first_segment) {
      lane.first_segment = lane.open_segment;
    }
    const int claims = lane.made - (mutant_ == Mutant::attempts ? lane.taken_back : 0);
    const bool hasty = mutant_ == Mutant::killed_at_once || (c.item == kNone && mutant_ == Mutant::empty_at_once);
    if (claims < 2 || c.wait == 0 || hasty) return begin(s, who, out, what);
    go(s, who, waiting, out, what);
  }

  static void wait(const State& s, size_t who, Steps<State>& out) {
    if (s.consumers[who].wait == 0) begin(s, who, out, "has waited for the gap");
  }

  static void begin(State s, size_t who, Steps<State>& out, const char* what) {
    const Consumer& c = s.consumers[who];
    if (c.item == kNone) return go(s, who, emptying, out, what);
    const Item& item = s.items[c.item];
    for (size_t j = 2 * pusher_of(c.item); j < c.item; ++j) {
      const Item& other = s.items[j];
      if (other.key == item.key && other.life == live && !other.requeued) s.error = out_of_order;
    }
    if (s.lanes[c.key].rest > 0) s.error = too_soon;
    go(s, who, working, out, what);
  }

  static void work(State s, size_t who, Steps<State>& out) {
    s.lanes[s.consumers[who].key].rest = s.gap;
    go(s, who, removing, out, "its command succeeds");
    if (!spend(s)) return;
    s.consumers[who].phase = burying;
    out.chance(s, who, "its command fails for good");
    s.consumers[who].phase = returning;
    out.chance(s, who, "its command fails, to be tried again");
    s.consumers[who].phase = releasing;
    out.chance(s, who, "its command is ended by a signal");
  }

  // Ack::done, Ack::dead_letter. The time of the next turn counts from the command's end.
  void end_item(State s, size_t who, Steps<State>& out) const {
    Consumer& c = s.consumers[who];
    const bool gone = s.items[c.item].life != live;
    if (gone && !c.missing) {
      c.missing = mutant_ != Mutant::ack_loops;
      return out.move(s, who, "finds its claim, but no item");
    }
    if (c.phase == burying && has_namesake(s, c.item)) s.error = blocked;
    State done = s;
    if (!gone) take_out(done, c.item, c.phase == burying ? dead : ended);
    if (gone) count_missing(done, c.item);
    Lane& lane = done.lanes[c.key];
    const bool last = lane.order[0] == kNone && lane.first_segment == lane.open_segment;
    if (last && (mutant_ == Mutant::last_item || s.gap == 0)) {
      State without = done;
      clear(without.lanes[c.key]);
      go(without, who, looking, out, "removes the last item with its lane");
      lose(s, without, who, ack_lost, out);
    }
    lane.owner = kNone;
    lane.made = lane.taken_back = 0;
    lane.due_in = mutant_ == Mutant::no_rest ? 0 : lane.rest;
    lane.turns = mutant_ != Mutant::ack_alone;
    go(done, who, looking, out, "ends its item and makes the next turn");
    lose(s, done, who, ack_lost, out);
  }

  bool has_namesake(const State& s, size_t i) const {
    const size_t other = i ^ 1;  // of the same pusher
    return mutant_ == Mutant::old_token && s.items[other].life == dead && s.items[other].key == s.items[i].key &&
           s.items[other].number == s.items[i].number;
  }

  void count_missing(State& s, uint8_t item) const {
    s.items[item].life = ended;
    if (mutant_ != Mutant::uncounted) --s.count;
  }

  static void give_back(const State& s, size_t who, Steps<State>& out) {
    State done = s;
    Lane& lane = done.lanes[s.consumers[who].key];
    lane.owner = kNone;
    lane.taken_back = s.consumers[who].phase == releasing;
    go(done, who, looking, out, "gives the turn back");
    lose(s, done, who, ack_lost, out);
  }

  void remove_empty(const State& s, size_t who, Steps<State>& out) const {
    const uint8_t key = s.consumers[who].key;
    const Lane& lane = s.lanes[key];
    const bool empty = lane.order[0] == kNone && lane.first_segment == lane.open_segment;
    if (!empty) return list(s, who, out, "finds that the lane is not empty");
    State done = s;
    clear(done.lanes[key]);
    go(done, who, looking, out, "removes the lane");
    lose(s, done, who, ack_lost, out);
  }

  static void find_out(const State& s, size_t who, Steps<State>& out) {
    const Consumer& c = s.consumers[who];
    const bool ours = s.lanes[c.key].owner == who;
    go(s, who, ours ? static_cast<Phase>(c.ack) : looking, out, ours ? "finds its claim" : "finds that it is over");
  }

  static void outsiders(State s, Steps<State>& out) {
    State next = s;
    if (s.line[0] == kOld || s.line[1] == kOld || s.line[2] == kOld) {
      leave_line(next, kOld);
      out.chance(next, kNobody, "the older consumer leaves");
    }
    if (!spend(s)) return;
    next = s;
    if (s.line[0] != kOld && s.line[1] != kOld && s.line[2] == kNone) {
      *std::find(next.line.begin(), next.line.end(), kNone) = kOld;
      out.chance(next, kNobody, "an older consumer stands in the idle line");
    }
    for (size_t key = 0; key < 2; ++key) {
      next = s;
      if (!s.lanes[key].exists || s.lanes[key].open_segment > 0) continue;
      next.lanes[key].open_segment = 1;
      out.chance(next, kNobody, "a push has sealed the lane's segment");
    }
    for (const Consumer& c : s.consumers) {
      if (c.phase != working || s.items[c.item].life != live) continue;
      next = s;
      take_out(next, c.item, by_hand);
      out.chance(next, kNobody, "an item in work is deleted by hand");
    }
  }

  bool full_;
  Mutant mutant_;
  Pushers pushers_;
  Administrator admin_;
};

}  // namespace
}  // namespace zklock::model::lane

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::lane::LaneQueue>("lane", argc, argv);
}
