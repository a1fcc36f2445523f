// SPDX-License-Identifier: Apache-2.0
// Two members of a group, of one name, which one has alone or which gets a number: src/recipe/group/member.cc, and
// src/command/group/join.cc, which joins again after an expiry.
#include "nodes.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::group {
namespace {

enum Phase : uint8_t {
  joining,     // GroupMember::join
  join_lost,   // GroupMember::find
  name_taken,  // GroupMember::look_at_name
  unwatched,   // only in a mutant
  waiting,     // GroupMember::wait_for_name
  looking,     // GroupMember::look
  in,
  leaving,     // GroupMember::leave
  leave_lost,  // GroupMember::still_ours
  over,
};

struct Member {
  uint8_t phase, expired;
  uint8_t removed;  // an outsider removed its node
};

constexpr uint8_t kRobbed = 2;  // a value of State::wrong

class Group {
 public:
  enum class Mutant { none, no_look, stale, no_check, another, unseen, by_name };
  static constexpr std::array kMutants = {"no look after a lost create",
                                          "sync instead of a quorum's word",
                                          "a node that is gone was removed by somebody",
                                          "a name that is taken is another's",
                                          "a watch without a look",
                                          "a removal whose answer was lost is sent again without a look"};
  struct State {
    Nodes<5> nodes;
    std::array<Member, 2> members;
    uint8_t chosen, unique;  // which kind of names, once it is chosen
    uint8_t woken;           // a bit for each: the watch on the name has fired
    uint8_t losses, expiries, removals, overflow;
    uint8_t wrong;
  };

  Group(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.losses = full_ ? 4 : 2;
    s.expiries = full_ ? 3 : 1;
    s.removals = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.overflow) return "more nodes than the model has room for";
    if (s.wrong == kRobbed) return "it removes the other's node";
    if (s.wrong) return "it says that it was removed, and its session was over";
    const bool twice = s.nodes.count_of(0) > 1 || s.nodes.count_of(1) > 1;
    return twice ? "it is a member twice" : nullptr;
  }
  bool is_settled(const State& s) const {
    const auto ended = [](const Member& member) { return member.phase == over; };
    return s.nodes.count() == 0 && std::all_of(s.members.begin(), s.members.end(), ended);
  }

  void steps(const State& s, Steps<State>& out) const {
    if (!s.chosen) return choose(s, out);
    for (size_t who = 0; who < 2; ++who) {
      session_steps(s, who, out);
      if (!s.members[who].expired || is_deceived(s.members[who])) member_steps(s, who, out);
    }
  }

 private:
  // True if it asks a server that has not heard of the session's end, and gets an answer because there is no check.
  bool is_deceived(const Member& member) const {
    return mutant_ == Mutant::no_check && (member.phase == in || member.phase == looking);
  }
  static bool is_leaving(const Member& member) { return member.phase == leaving || member.phase == leave_lost; }
  static uint8_t bit(size_t who) { return static_cast<uint8_t>(1 << who); }
  static bool is_there(const State& s, size_t who) { return s.nodes.own(who) != kNoNode; }

  static void choose(State s, Steps<State>& out) {
    s.chosen = 1;
    out.move(s, kNobody, "names get numbers");
    s.unique = 1;
    out.move(s, kNobody, "a name is for one");
  }

  static void go(State next, size_t who, Phase phase, Steps<State>& out, const char* what) {
    next.members[who].phase = phase;
    out.move(next, who, what);
  }
  static void lose(State s, State done, size_t who, Phase phase, Steps<State>& out) {
    if (s.losses == 0) return;
    for (State* next : {&s, &done}) {
      --next->losses;
      next->members[who].phase = phase;
    }
    out.chance(s, who, "the request is lost");
    out.chance(done, who, "the request is done, its answer is lost");
  }
  // Each waiter for the name has a watch on it.
  static void wake(State& s) {
    for (size_t who = 0; who < 2; ++who) {
      if (s.members[who].phase == waiting) s.woken |= bit(who);
    }
  }

  static void session_steps(const State& s, size_t who, Steps<State>& out) {
    const Member& member = s.members[who];
    uint8_t ignored = 0;
    State next = s;
    if (s.nodes.any_left_behind(who)) {
      next.nodes.end_session(who, true, ignored);
      wake(next);
      out.move(next, who, "the session that it left behind expires");
    }
    next = s;
    if (member.expired) {
      next.members[who] = {static_cast<uint8_t>(is_leaving(member) ? over : joining), 0, 0};
      return out.move(next, who, "hears that its session is over");
    }
    if (member.phase == over) return;
    remove(s, who, out);
    if (s.expiries == 0) return;
    --next.expiries;
    next.nodes.end_session(who, false, ignored);
    wake(next);
    next.members[who].expired = 1;
    out.chance(next, who, "its session expires");
  }

  static void remove(State next, size_t who, Steps<State>& out) {
    if (next.removals == 0 || !is_there(next, who)) return;
    uint8_t ignored = 0;
    --next.removals;
    next.nodes.remove(next.nodes.own(who), ignored);
    wake(next);
    next.members[who].removed = 1;
    out.chance(next, who, "somebody removes its node");
  }

  void member_steps(const State& s, size_t who, Steps<State>& out) const {
    switch (static_cast<Phase>(s.members[who].phase)) {
      case joining: return join(s, who, out);
      case join_lost: return find(s, who, out);
      case name_taken: return look_at_name(s, who, out);
      case unwatched: return go(s, who, waiting, out, "sets a watch on the name");
      case waiting:
        if (s.woken & bit(who)) go(s, who, joining, out, "is woken");
        return;
      case looking: return look(s, who, out);
      case in:
        go(s, who, leaving, out, "its command ends");
        if (!is_there(s, who)) go(s, who, looking, out, "is told by its watch that the node has changed");
        return;
      case leaving: return leave(s, who, out);
      case leave_lost: return find_out(s, who, out);
      case over: return;
    }
  }

  static void join(const State& s, size_t who, Steps<State>& out) {
    if (s.unique && s.nodes.count() > 0) return go(s, who, name_taken, out, "hears that there is such a node");
    State done = s;
    done.overflow = done.nodes.add(who) ? 0 : 1;
    done.members[who].removed = 0;
    go(done, who, looking, out, "creates its node");
    lose(s, done, who, join_lost, out);
  }

  // Finds its node by the owner, among the nodes of the name. A deposed leader may not know it yet, even if it answers
  // a sync.
  void find(const State& s, size_t who, Steps<State>& out) const {
    const bool looks = mutant_ != Mutant::no_look && !(mutant_ == Mutant::another && s.unique);
    if (is_there(s, who) && looks) go(s, who, looking, out, "finds its node");
    if (!is_there(s, who) || !looks || mutant_ == Mutant::stale) go(s, who, joining, out, "finds no node of its own");
  }

  // GroupMember::wait_for_name: the answer sets a watch.
  void look_at_name(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    next.woken &= static_cast<uint8_t>(~bit(who));
    if (is_there(s, who) && mutant_ != Mutant::another)
      return go(s, who, looking, out, "finds that the node is its own");
    if (mutant_ == Mutant::unseen) return go(next, who, unwatched, out, "takes the name for taken");
    if (s.nodes.count() == 0) return go(s, who, joining, out, "finds that the name is free");
    go(next, who, waiting, out, "waits for the name");
  }

  // Checks its node, and then sets a watch on it. When it has just joined, its command runs already.
  void look(const State& s, size_t who, Steps<State>& out) const {
    go(s, who, leaving, out, "its command ends");
    if (is_there(s, who)) return go(s, who, in, out, "is in");
    State next = s;
    next.wrong = s.members[who].removed ? 0 : 1;
    go(next, who, over, out, "says that it was removed");
  }

  // The request has only the node's name. An exclusive name may be the other's by now; a number never comes again. One
  // case is left out: an outsider removes the node, and the other one takes the name just before the request arrives.
  // No request names the owner of what it deletes.
  static void leave(const State& s, size_t who, Steps<State>& out) {
    uint8_t ignored = 0;
    State done = s;
    const bool robs = s.unique && !s.members[who].removed && !is_there(s, who) && s.nodes.count() > 0;
    if (robs) done.wrong = kRobbed;
    done.nodes.remove(s.nodes.own(who), ignored);
    wake(done);
    go(done, who, over, out, "deletes its node");
    lose(s, done, who, leave_lost, out);
    run_out_of_time(s, who, out);
  }

  // It asks behind a barrier, so what it sent is done or never will be.
  void find_out(const State& s, size_t who, Steps<State>& out) const {
    const bool again = is_there(s, who) || mutant_ == Mutant::by_name;
    go(s, who, again ? leaving : over, out, again ? "finds its node" : "finds no node of its own");
    run_out_of_time(s, who, out);
  }

  static void run_out_of_time(State next, size_t who, Steps<State>& out) {
    next.nodes.leave_session(who);
    next.members[who].phase = over;
    out.chance(next, who, "has no time left and ends");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::group

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::group::Group>("group", argc, argv);
}
