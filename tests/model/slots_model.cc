// SPDX-License-Identifier: Apache-2.0
// Three contenders for two slots: src/recipe/lock/slots.cc. The gate is a lock, whose own protocol line_model.cc has.
// Attempts that do not wait are left out.
#include "nodes.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::slots {
namespace {

enum Phase : uint8_t {
  start,  // Gate::acquire
  gate_lost,
  at_gate,  // listed
  before_gate,
  making,        // Slots::take_slot
  making_alone,  // the same, and the delete of its place in the gate is behind it in the flight: nobody has a lease
  leaving,       // the create is done, that delete is not
  lease_lost,
  counting,
  unwatched,
  waiting,
  opening,  // Slots::open_gate
  holding,
  releasing,  // Slots::release
  left,
};

struct Contender {
  uint8_t phase, expired;
};

class Slots {
 public:
  enum class Mutant { none, early_gate, no_look, gate_forgotten, unseen, lease_forgotten, outside };
  static constexpr std::array kMutants = {
      "the gate is opened before the lease is made",        "no look after a lost lease",
      "a gate whose delete was not answered is forgotten",  "a watch without a look",
      "a lease whose delete was not answered is forgotten", "it waits for a slot though it has left the gate"};
  struct State {
    Nodes<5> gate, leases;
    std::array<Contender, 3> contenders;
    uint8_t woken;  // a bit for each
    uint8_t losses, expiries, withdrawals, overflow;
  };

  Slots(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.losses = s.expiries = full_ ? 2 : 1;
    s.withdrawals = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.overflow) return "more nodes than the model has room for";
    size_t holders = 0;
    for (size_t who = 0; who < 3; ++who) {
      const Contender& c = s.contenders[who];
      if (s.leases.count_of(who) > 1) return "it has two leases in one session";
      if (c.expired) continue;
      holders += c.phase == holding ? 1 : 0;
      if (c.phase == holding && s.gate.count_of(who) > 0) return "it holds a slot and blocks the gate";
      if (c.phase == waiting && s.gate.count_of(who) == 0) return "it waits for a slot outside the gate";
    }
    return holders > kSlots ? "more hold a slot than there are" : nullptr;
  }

  bool is_settled(const State& s) const {
    const auto over = [](const Contender& c) { return c.phase == left; };
    return s.gate.count() + s.leases.count() == 0 && std::all_of(s.contenders.begin(), s.contenders.end(), over);
  }

  void steps(const State& s, Steps<State>& out) const {
    for (size_t who = 0; who < 3; ++who) {
      session_steps(s, who, out);
      if (!s.contenders[who].expired) contender_steps(s, who, out);
    }
  }

 private:
  static constexpr size_t kSlots = 2;

  static void end_session(State& s, size_t who, bool left_behind) {
    s.gate.end_session(who, left_behind, s.woken);
    const size_t before = s.leases.count();
    uint8_t ignored = 0;
    s.leases.end_session(who, left_behind, ignored);
    if (s.leases.count() != before) wake_waiting(s);
  }
  // Fires the watch on the list of leases.
  static void wake_waiting(State& s) {
    for (size_t who = 0; who < 3; ++who) {
      if (s.contenders[who].phase == waiting) s.woken |= bit(who);
    }
  }
  static uint8_t bit(size_t who) { return static_cast<uint8_t>(1 << who); }

  static void session_steps(const State& s, size_t who, Steps<State>& out) {
    const Contender& c = s.contenders[who];
    State next = s;
    if (s.gate.any_left_behind(who) || s.leases.any_left_behind(who)) {
      end_session(next, who, true);
      out.move(next, who, "the session that it left behind expires");
    }
    next = s;
    if (c.expired) {
      next.contenders[who] = {static_cast<uint8_t>(c.phase >= holding ? left : start), 0};
      return out.move(next, who, "hears that its session is over");
    }
    if (s.expiries == 0 || c.phase == left) return;
    --next.expiries;
    end_session(next, who, false);
    next.contenders[who].expired = 1;
    out.chance(next, who, "its session expires");
  }

  void contender_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.contenders[who].phase)) {
      case start: return make(s, who, &State::gate, at_gate, gate_lost, out);
      case gate_lost: return find(s, who, s.gate, at_gate, start, out);
      case at_gate:
      case before_gate: return pass_gate(s, who, out);
      case making: return make(s, who, &State::leases, after_lease(), lease_lost, out);
      case making_alone: return make_alone(s, who, out);
      case leaving: return leave_gate(s, who, counting, counting, out);
      case lease_lost:
        if (mutant_ == Mutant::no_look) return go(s, who, making, out, "takes the create for not done");
        return find(s, who, s.leases, after_lease(), making, out);
      case counting:
      case waiting: return count(s, who, out);
      case unwatched: return go(s, who, waiting, out, "sets a watch");
      case opening: return open(s, who, out);
      case holding: return go(s, who, releasing, out, "its command ends");
      case releasing: return release(s, who, out);
      case left: return;
    }
  }

  static void go(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
    next.contenders[who].phase = phase;
    out.move(next, who, what);
  }
  static void lose(State s, State done, size_t who, Phase phase, Steps<State>& out) {
    if (s.losses == 0) return;
    for (State* next : {&s, &done}) {
      --next->losses;
      next->contenders[who].phase = phase;
    }
    out.chance(s, who, "the request is lost");
    out.chance(done, who, "the request is done, its answer is lost");
  }
  Phase after_lease() const { return mutant_ == Mutant::early_gate ? holding : counting; }

  // ProtectedNode::make and find.
  static void make(const State& s, size_t who, Nodes<5> State::*line, Phase made, Phase lost, Steps<State>& out) {
    State done = s;
    done.overflow = (done.*line).add(who) ? 0 : 1;
    if (line == &State::leases) wake_waiting(done);
    go(done, who, made, out, line == &State::gate ? "goes to the gate" : "makes its lease");
    lose(s, done, who, lost, out);
  }
  static void find(const State& s, size_t who, const Nodes<5>& line, Phase found, Phase missing, Steps<State>& out) {
    const bool there = line.own(who) != kNoNode;
    go(s, who, there ? found : missing, out, there ? "finds its node" : "finds that it has no node");
  }

  // Slots::send_with_slot. The server may refuse the create, and carry out the delete behind it.
  static void make_alone(const State& s, size_t who, Steps<State>& out) {
    make(s, who, &State::leases, leaving, lease_lost, out);
    if (s.losses == 0) return;
    State made = s;
    --made.losses;
    State refused = made;
    refused.gate.remove(refused.gate.own(who), refused.woken);
    refused.contenders[who].phase = making;
    out.chance(refused, who, "its lease is refused, and it leaves the gate");
    made.overflow = made.leases.add(who) ? 0 : 1;
    wake_waiting(made);
    made.gate.remove(made.gate.own(who), made.woken);
    made.contenders[who].phase = lease_lost;
    out.chance(made, who, "both are done, the answers are lost");
  }

  void pass_gate(const State& s, size_t who, Steps<State>& out) const {
    const bool waits = s.contenders[who].phase == before_gate;
    if (waits && !(s.woken & bit(who))) return withdraw(s, who, out);
    State next = s;
    next.woken &= static_cast<uint8_t>(~bit(who));
    if (s.gate.own(who) != 0) return go(next, who, before_gate, out, "waits for the one before it");
    const bool alone = !waits && s.leases.count() == 0 && mutant_ != Mutant::early_gate;
    if (alone) return go(next, who, making_alone, out, "is in the gate, and nobody has a lease");
    go(next, who, mutant_ == Mutant::early_gate ? counting : making, out, "is in the gate");
  }

  // The second time, the list sets a watch.
  void count(const State& s, size_t who, Steps<State>& out) const {
    const bool waits = s.contenders[who].phase == waiting;
    if (waits && !(s.woken & bit(who))) return withdraw(s, who, out);
    State next = s;
    next.woken &= static_cast<uint8_t>(~bit(who));
    const uint8_t own = s.leases.own(who);
    const size_t before = own == kNoNode ? s.leases.count() : own;
    if (before < kSlots) return go(next, who, opening, out, "counts, and has a slot");
    if (s.gate.own(who) == kNoNode && mutant_ != Mutant::outside) return start_again(next, who, out);
    go(next, who, mutant_ == Mutant::unseen ? unwatched : waiting, out, "counts, and waits for a slot");
  }

  // LockSet::acquire, after Outcome::disturbed.
  static void start_again(State next, size_t who, Steps<State>& out) {
    next.gate.leave_session(who);
    next.leases.leave_session(who);
    go(next, who, start, out, "counts, and starts again in another session");
  }

  static void withdraw(State next, size_t who, Steps<State>& out) {
    if (next.withdrawals == 0) return;
    --next.withdrawals;
    next.contenders[who].phase = releasing;
    out.chance(next, who, "is told to end");
  }

  void open(const State& s, size_t who, Steps<State>& out) const {
    const Phase lost = mutant_ == Mutant::gate_forgotten ? holding : opening;
    leave_gate(s, who, mutant_ == Mutant::early_gate ? making : holding, lost, out);
  }
  static void leave_gate(const State& s, size_t who, Phase after, Phase lost, Steps<State>& out) {
    State done = s;
    done.gate.remove(s.gate.own(who), done.woken);
    go(done, who, after, out, "leaves the gate");
    lose(s, done, who, lost, out);
  }

  // Slots::release and withdraw: delete slot and gate until that is answered. If time runs out, the session ends.
  void release(const State& s, size_t who, Steps<State>& out) const {
    State done = s;
    uint8_t ignored = 0;
    if (s.leases.own(who) != kNoNode) {
      done.leases.remove(s.leases.own(who), ignored);
      wake_waiting(done);
      go(done, who, releasing, out, "deletes its lease");
    } else {
      done.gate.remove(s.gate.own(who), done.woken);
      go(done, who, left, out, "has nothing left");
    }
    lose(s, done, who, releasing, out);
    give_up(s, who, out);
  }

  void give_up(State next, size_t who, Steps<State>& out) const {
    if (mutant_ == Mutant::lease_forgotten) {
      next.gate.forget(who);
      next.leases.forget(who);
      next.contenders[who].phase = start;
      return out.chance(next, who, "has no time left and goes on");
    }
    next.gate.leave_session(who);
    next.leases.leave_session(who);
    next.contenders[who].phase = left;
    out.chance(next, who, "has no time left and ends");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::slots

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::slots::Slots>("slots", argc, argv);
}
