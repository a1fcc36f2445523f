// SPDX-License-Identifier: Apache-2.0
// Two contenders for one lock, with lost answers and expired sessions: src/recipe/lock/protected_node.cc and lock.cc.
// Left out are shared contenders (tests/unit/recipe/line_exhaustive_test.cc), nodes that outsiders delete, and how long
// a proof is good (lease_model.cc).
#include "line_replay.h"
#include "line_servers.h"
#include "replay_run.h"
#include "run.h"

namespace zklock::model::line {
namespace {

class Line : public Servers {
 public:
  enum class Mutant { none, no_look, plain_list, sync, forgotten, unseen, listed_before, listed_proof, made_anew };
  static constexpr std::array kMutants = {"no look after a lost create",
                                          "a plain list after a lost create",
                                          "sync instead of a quorum's word",
                                          "a place whose delete was not answered is forgotten",
                                          "a watch without a look",
                                          "the list before the create",
                                          "a list for a proof",
                                          "who was held up makes another node"};
  Line(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    for (Contender& c : s.contenders) c = {start, a, nothing, kNoNode, 1, 0, 0, 0, 0};
    s.losses = full_ ? 3 : 1;
    s.expiries = full_ ? 2 : 1;
    s.withdrawals = 1;
    return s;
  }

  const char* fault(const State& s) const {
    if (s.overflow) return "more nodes than the model has room for";
    if (holds(s, 0) && holds(s, 1)) return "two hold the lock";
    for (size_t who = 0; who < 2; ++who) {
      const Contender& c = s.contenders[who];
      if ((c.phase != to_watch && c.phase != waiting) || c.place == kNoNode) continue;
      const uint8_t node = s.nodes[c.place];
      if (owner_of(node) == who && (node & session_lives) && (node & at_a)) return "it waits for itself";
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    return s.contenders[0].phase == left && s.contenders[1].phase == left &&
           std::none_of(s.nodes.begin(), s.nodes.end(), [](uint8_t node) { return node & at_a; });
  }

  void steps(const State& s, Steps<State>& out) const {
    server_steps(s, out);
    others_steps(s, out);
    for (size_t who = 0; who < 2; ++who) {
      time_steps(s, who, out);
      session_steps(s, who, out);
      pending_steps(s, who, out);
      if (s.contenders[who].server == nowhere) {
        connect(s, who, out);
      } else {
        client_steps(s, who, out);
      }
    }
  }

 private:
  void client_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.contenders[who].phase)) {
      case start:
      case listed: return make(s, who, out);
      case made:
        interrupt(s, who, out);
        next_phase(s, who, mutant_ == Mutant::made_anew ? start : confirming, out, "was held up, and asks once more");
        return list(s, who, out);
      case unknown: return find(s, who, out);
      case confirming: interrupt(s, who, out); return confirm(s, who, out);
      case to_watch: interrupt(s, who, out); return watch(s, who, out);
      case waiting: return wait(s, who, out);
      case holding:
        next_phase(s, who, removing, out, "its command ends");
        return lose(s, who, holding, nothing, out, "the connection breaks");
      case removing: return remove(s, who, out);
      case left: return;
    }
  }

  static void next_phase(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
    next.contenders[who].phase = phase;
    out.move(next, who, what);
  }

  // The connection breaks before there is an answer; a deposed leader never answers a transaction.
  static void lose(State next, size_t who, Phase phase, Pending pending, Steps<State>& out, const char* what) {
    Contender& c = next.contenders[who];
    if (next.losses == 0) return;
    --next.losses;
    c.server = nowhere;
    c.phase = phase;
    if (pending != nothing) c.pending = pending;
    out.chance(next, who, what);
  }
  static void give_up_server(State next, size_t who, Phase phase, Steps<State>& out) {
    if (!(next.contenders[who].server == b && next.deposed)) return;
    next.contenders[who].server = nowhere;
    next.contenders[who].phase = phase;
    out.move(next, who, "has no answer and cuts the connection");
  }

  // ProtectedNode::make, with an id that was never used before.
  void make(State s, size_t who, Steps<State>& out) const {
    each_own(s, who, [](uint8_t& node) { node &= static_cast<uint8_t>(~last_attempt); });
    s.contenders[who].proved = 0;
    State next = s;
    Contender& c = next.contenders[who];
    if (mutant_ == Mutant::listed_before && c.phase == start) {
      c.place = last_other(s, who, seen_by(s, who));
      return next_phase(next, who, listed, out, "lists");
    }
    lose(s, who, unknown, a_create, out, "creates its node, the answer is lost");
    give_up_server(s, who, unknown, out);
    if (!answers(s, who)) return;
    put_node(next, who);
    note_answer(next, who);
    if (c.phase != listed) return next_phase(next, who, made, out, "creates its node");
    next_phase(next, who, c.place == kNoNode ? holding : to_watch, out, "creates its node");
  }

  // Handles the list that was sent with the create; and ProtectedNode::look_again while the last proof is good.
  void list(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    lose(s, who, confirming, nothing, out, "the list is lost");
    note_read(next, who);
    if (mutant_ == Mutant::listed_proof) next.contenders[who].proved = 1;
    look(next, who, out, "lists");
  }

  // ProtectedNode::find.
  void find(const State& s, size_t who, Steps<State>& out) const {
    if (mutant_ == Mutant::no_look) return next_phase(s, who, start, out, "takes the create for not done");
    lose(s, who, unknown, nothing, out, "the look for the node is lost");
    if (s.withdrawals > 0) give_up_unknown(s, who, out);
    State next = s;
    const bool quorum = mutant_ != Mutant::sync && mutant_ != Mutant::plain_list;
    if (quorum) give_up_server(s, who, unknown, out);
    const bool deposed = s.contenders[who].server == b && s.deposed;
    const bool conclusive = mutant_ != Mutant::plain_list && !deposed;
    if ((quorum || conclusive) && !answers(s, who)) return;
    if (conclusive) note_answer(next, who);
    const bool there = own_node(next, who, seen_by(next, who)) != kNoNode;
    next_phase(next, who, there ? confirming : start, out, there ? "finds its node" : "finds that there is none");
  }

  // Lock::is_next; handover_model.cc has more of what may come between list and event.
  static void be_next(const State& s, size_t who, Steps<State>& out) {
    const Contender& c = s.contenders[who];
    if (c.next != none_before || !c.proved) return;
    if (own_node(s, who, seen_by(s, who)) == kNoNode) return;
    next_phase(s, who, holding, out, "the only one before it is gone, and it holds");
  }

  // ProtectedNode::confirm: checks the node, and then lists.
  void confirm(const State& s, size_t who, Steps<State>& out) const {
    be_next(s, who, out);
    if (s.contenders[who].proved || mutant_ == Mutant::listed_proof) list(s, who, out);
    lose(s, who, confirming, nothing, out, "check and list are lost");
    give_up_server(s, who, confirming, out);
    if (!answers(s, who)) return;
    State next = s;
    note_answer(next, who);
    look(next, who, out, "checks its node and lists");
  }

  // Lock::look with the result of the list; recipe/line.h. Or ProtectedNode::find, whose node is gone before its check.
  void look(State next, size_t who, Steps<State>& out, const char* what) const {
    Contender& c = next.contenders[who];
    const uint8_t seen = seen_by(next, who);
    const uint8_t own = own_node(next, who, seen);
    if (own == kNoNode) {
      next_phase(next, who, start, out, "its node is gone, and it makes another one");
      return next_phase(next, who, removing, out, "its node is gone");
    }
    c.place = kNoNode;
    size_t before = 0;
    for (uint8_t i = 0; i < own; ++i) {
      if (next.nodes[i] & seen) c.place = i, ++before;
    }
    c.next = before == 1 ? one_before : not_next;
    if (c.place != kNoNode) return next_phase(next, who, to_watch, out, what);
    next_phase(next, who, c.proved ? holding : removing, out, c.proved ? what : "has its turn, and its fence is over");
  }

  // Lock::wait_for: reads the predecessor and sets a watch on it. The watch survives a reconnect: the library sets it
  // again, and the server fires it when the node is gone.
  void watch(const State& s, size_t who, Steps<State>& out) const {
    lose(s, who, confirming, nothing, out, "the watch is lost");
    miss_own_node(s, who, out);
    State next = s;
    Contender& c = next.contenders[who];
    note_read(next, who);
    const bool there = c.place != kNoNode && (s.nodes[c.place] & seen_by(s, who));
    if (!there) c.place = kNoNode;
    const bool waits = there || mutant_ == Mutant::unseen;
    next_phase(next, who, waits ? waiting : confirming, out,
               there ? "watches the one before it" : "it is gone already");
  }

  // It reads its own node with the predecessor, if it has no watch on it.
  void miss_own_node(const State& s, size_t who, Steps<State>& out) const {
    if (own_node(s, who, seen_by(s, who)) != kNoNode) return;
    State next = s;
    note_read(next, who);
    next.contenders[who].place = kNoNode;
    next_phase(next, who, confirming, out, "its own node is gone, it looks again");
  }

  void wait(const State& s, size_t who, Steps<State>& out) const {
    lose(s, who, waiting, nothing, out, "the connection breaks");
    interrupt(s, who, out);
    State next = s;
    next.contenders[who].place = kNoNode;
    const uint8_t place = s.contenders[who].place;
    const bool woken = place != kNoNode && !(s.nodes[place] & seen_by(s, who));
    if (woken) {
      next.contenders[who].next = s.contenders[who].next == one_before ? none_before : not_next;
      return next_phase(next, who, confirming, out, "is woken");
    }
    next.contenders[who].next = not_next;
    // wait_for_change returns after the longest sleep, or because its own node has changed.
    next.contenders[who].phase = confirming;
    out.chance(next, who, "looks though nothing has woken it");
  }

  // ProtectedNode::remove: tries until it is answered, or for the withdrawal_budget, and then until the session's end.
  void remove(const State& s, size_t who, Steps<State>& out) const {
    const Contender& c = s.contenders[who];
    lose(s, who, removing, a_delete, out, "deletes its node, the answer is lost");
    give_up_server(s, who, removing, out);
    State next = s;
    give_up(s, who, out);
    if (!answers(s, who)) return;
    delete_own(next, who);
    note_answer(next, who);
    next.contenders[who].again = 0;
    next_phase(next, who, c.again ? start : left, out, "deletes its node");
  }

  // Interrupts it by a signal or the end of its wait; or by the loss of a lock that it already has (LockSet).
  static void interrupt(const State& s, size_t who, Steps<State>& out) {
    State next = s;
    if (next.withdrawals == 0) return;
    Contender& c = next.contenders[who];
    --next.withdrawals;
    c.phase = removing;
    c.place = kNoNode;
    out.chance(next, who, "is told to end");
    if (s.contenders[who].phase != waiting) return;
    c.again = 1;
    out.chance(next, who, "is disturbed, and will stand in line again");
  }

  // It is interrupted, so what it may have made goes with the session.
  static void give_up_unknown(State next, size_t who, Steps<State>& out) {
    --next.withdrawals;
    start_again(next, who, true);
    out.chance(next, who, "is told to end");
  }

  void give_up(State next, size_t who, Steps<State>& out) const {
    Contender& c = next.contenders[who];
    if (mutant_ == Mutant::forgotten && c.again) {
      c.phase = start;
      c.again = 0;
    } else {
      start_again(next, who, true);
    }
    out.chance(next, who, "has no time left to delete its node");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::line

int main(int argc, char** argv) {
  using zklock::model::line::Line;
  using Story = zklock::model::line::Story<Line>;
  const auto files = zklock::model::files_to_replay(argc, argv);
  if (!files.empty()) return zklock::model::replay_all<Story>("line", files, Line(zklock::model::Size::quick, {}));
  return zklock::model::run_model<Line>("line", argc, argv);
}
