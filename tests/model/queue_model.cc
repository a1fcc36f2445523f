// SPDX-License-Identifier: Apache-2.0
// Two consumers and two items of a queue: src/recipe/queue/consumer.cc, ack.cc, idle_line.cc, and their callers in
// src/command/queue/pull_work.cc. Each consumer has one item at a time. Claims in batches are left out, and so are
// delays.
//
// A look behind a check of a quorum is conclusive, as line_model.cc shows. No command runs after its session is over,
// as lease_model.cc shows.
#include "queue_items.h"
#include "run.h"

namespace zklock::model::queue {
namespace {

class Queue {
 public:
  using State = queue::State;
  enum class Mutant { none, forgotten, unseen, unwatched, other_session, gone_is_ours, no_look, sync };
  static constexpr std::array kMutants = {"a place whose delete was not answered is forgotten",
                                          "watches without a look",
                                          "no watch on items in work",
                                          "an item is removed in another session than it was claimed in",
                                          "an item that is gone was removed by us",
                                          "no look after a lost claim",
                                          "sync instead of a quorum's word"};

  Queue(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    for (Consumer& c : s.consumers) c = {looking, kNone, 0, 0, kNone};
    s.losses = full_ ? 2 : 1;
    s.expiries = full_ ? 2 : 1;
    s.disturbances = full_ ? 2 : 1;
    s.kills = 1;
    s.failures = full_ ? 1 : 0;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.overflow) return "more places than the model has room for";
    for (const Item& item : s.items) {
      if (item.state == gone && item.times == 0) return "an item is lost";
    }
    for (size_t who = 0; who < 2; ++who) {
      const Consumer& c = s.consumers[who];
      if (c.phase == looking && !c.expired && claims(s, who)) return "it has a claim that it does not know of";
      if (c.phase != standing || c.before == kNone || c.expired) continue;
      const uint8_t place = s.places[c.before];
      if (owner_of(place) == who && (place & session_lives)) return "it waits for itself";
    }
    return is_settled(s) && is_twice(s) ? "an item was done twice without a word" : nullptr;
  }

  // Idle consumers may stay so.
  bool is_settled(const State& s) const {
    const auto over = [](const Item& item) { return item.state == gone; };
    const auto idle = [](const Consumer& c) { return c.phase < working || c.phase > return_lost; };
    return std::all_of(s.items.begin(), s.items.end(), over) &&
           std::all_of(s.consumers.begin(), s.consumers.end(), idle);
  }

  void steps(const State& s, Steps<State>& out) const {
    push(s, out);
    for (size_t who = 0; who < 2; ++who) {
      session_steps(s, who, out);
      if (!s.consumers[who].expired) consumer_steps(s, who, out);
    }
  }

 private:
  static bool claims(const State& s, size_t who) {
    const auto ours = [&](const Item& item) { return item.state == claimed && item.owner == who; };
    return std::any_of(s.items.begin(), s.items.end(), ours);
  }
  static bool is_twice(const State& s) {
    return std::any_of(s.items.begin(), s.items.end(), [](const Item& item) { return item.times > 1 && !item.warned; });
  }

  static void push(State next, Steps<State>& out) {
    const auto item = std::find_if(next.items.begin(), next.items.end(), [](auto& i) { return i.state == to_come; });
    if (item == next.items.end()) return;
    release(next, *item, true);
    out.move(next, kNobody, "an item is pushed");
  }

  void session_steps(const State& s, size_t who, Steps<State>& out) const {
    const bool noticed = mutant_ != Mutant::unwatched;
    State next = s;
    if (is_left_behind(s, who)) {
      end_session(next, who, true, noticed);
      out.move(next, who, "the session that it left behind expires");
    }
    if (s.consumers[who].phase == killed) return;
    kill(s, who, out);
    next = s;
    if (s.consumers[who].expired) return learn_of_expiry(next, who, out);
    if (s.expiries == 0) return;
    --next.expiries;
    next.consumers[who].expired = 1;
    end_session(next, who, false, noticed);
    out.chance(next, who, "its session expires");
  }

  // Other clients cannot know what it had done and not removed.
  static void kill(State next, size_t who, Steps<State>& out) {
    if (next.kills == 0) return;
    --next.kills;
    Consumer& c = next.consumers[who];
    if (c.phase == removing || c.phase == removal_lost) next.items[c.item].warned = 1;
    if (!c.expired) leave_session(next, who);
    c = {killed, kNone, 0, 0, kNone};
    out.chance(next, who, "is killed");
  }

  // CommandConsumer::start_again. An item that was done and is not known to be removed may be done again.
  void learn_of_expiry(State next, size_t who, Steps<State>& out) const {
    Consumer& c = next.consumers[who];
    const bool ended = c.phase == removing || c.phase == removal_lost;
    if (ended && mutant_ == Mutant::other_session && next.items[c.item].state != gone) {
      c.expired = 0;
      c.phase = removing;
      return out.move(next, who, "opens another session and removes the item there");
    }
    if (ended && !(mutant_ == Mutant::gone_is_ours && next.items[c.item].state == gone)) next.items[c.item].warned = 1;
    c = {looking, kNone, 0, 0, kNone};
    out.move(next, who, "hears that its session is over, opens another");
  }

  void consumer_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.consumers[who].phase)) {
      case looking: look(s, who, claiming, entering, out); return claim_first(s, who, out);
      case claiming:
      case taking: return claim(s, who, out);
      case claim_lost:
      case taking_lost: return find_claim(s, who, out);
      case working: return work(s, who, out);
      case removing:
      case returning: return ack(s, who, out);
      case removal_lost:
      case return_lost: return find_item(s, who, out);
      case entering:
      case entry_lost: return stand_in_line(s, who, out);
      case in_line:
      case standing: return wait_in_line(s, who, out);
      case first_looks: look(s, who, taking, sets_watches, out); return disturb(s, who, out);
      case sets_watches:
      case sleeping: return sleep(s, who, out);
      case leaving: return leave(s, who, out);
      case killed: return;
    }
  }

  void find_claim(const State& s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    const Item& item = s.items[c.item];
    const bool ours = item.state == claimed && item.owner == who;
    if (ours && mutant_ != Mutant::no_look) go(s, who, working, out, "finds its claim");
    if (ours && mutant_ != Mutant::no_look && mutant_ != Mutant::sync) return;
    go(s, who, c.phase == taking_lost ? first_looks : looking, out, "takes the claim for not made");
  }

  // IdleLine::wait: takes a place as in a lock's line.
  void stand_in_line(const State& s, size_t who, Steps<State>& out) const {
    const bool lost = s.consumers[who].phase == entry_lost;
    if (lost) {
      const bool there = own_place(s, who) != kNone;
      return go(s, who, there ? in_line : entering, out, there ? "finds its place" : "finds that it has no place");
    }
    State done = s;
    enter(done, who);
    go(done, who, in_line, out, "stands in line");
    lose(s, done, who, entry_lost, out);
  }

  void wait_in_line(const State& s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    const uint8_t own = own_place(s, who);
    disturb(s, who, out);
    if (c.phase == standing && c.before == kNone) return go(s, who, in_line, out, "is woken");
    if (c.phase == standing) return;
    if (own == kNone) return go(s, who, looking, out, "has lost its place");
    if (own == 0) return go(s, who, first_looks, out, "is the first in line");
    State next = s;
    next.consumers[who].before = static_cast<uint8_t>(own - 1);
    go(next, who, standing, out, "waits for the one before it");
  }

  // IdleLine::watch: changes since the look are seen once the watches are set.
  void sleep(const State& s, size_t who, Steps<State>& out) const {
    const Consumer& c = s.consumers[who];
    disturb(s, who, out);
    if (c.phase == sleeping) {
      if (c.woken) go(s, who, first_looks, out, "is woken");
      return;
    }
    const bool some = first_unclaimed(s) != kNone && mutant_ != Mutant::unseen;
    State next = s;
    next.consumers[who].woken = 0;
    go(next, who, some ? first_looks : sleeping, out, some ? "sees a change behind its watches" : "sleeps");
  }

  // A kept item falls due, a command ends, the connection is new (IdleLine::stand_in_line): WaitPolicy::disturbed.
  static void disturb(State next, size_t who, Steps<State>& out) {
    if (next.disturbances == 0) return;
    --next.disturbances;
    next.consumers[who].before = kNone;
    next.consumers[who].phase = leaving;
    out.chance(next, who, "has something else to do");
  }

  // The delete is sent until it is answered or the session is over.
  void leave(const State& s, size_t who, Steps<State>& out) const {
    State done = s;
    remove_place(done, own_place(s, who));
    go(done, who, looking, out, "leaves the line");
    lose(s, done, who, leaving, out);
    State next = s;
    next.consumers[who].phase = looking;
    if (mutant_ != Mutant::forgotten) {
      leave_session(next, who);
      return out.chance(next, who, "has no time left, and opens another session");
    }
    const uint8_t own = own_place(next, who);
    if (own != kNone) next.places[own] &= static_cast<uint8_t>(~last_attempt);
    out.chance(next, who, "has no time left, and goes on");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::queue

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::queue::Queue>("queue", argc, argv);
}
