// SPDX-License-Identifier: Apache-2.0
// The servers of the contenders in line_model.cc, and their sessions.
//
// The ensemble is two servers. A always has what a quorum knows. B lags until it catches up, which any transaction
// through it causes. Once in a run B is a deposed leader instead: it answers reads and `sync` from its old state, and
// no transaction. A server refuses a client that has seen more than it has; no event tells the client that. What a
// client sent before its connection broke may be done later. But it is never done after a transaction of the same
// session through another server: then it is refused, because the session has moved.
//
// One bit stands for time. While a client's last proof is good, its session does not expire (lease_model.cc). When that
// is over, the command that it runs is dead.
#pragma once

#include "checker.h"

#include <algorithm>
#include <array>

namespace zklock::model::line {

enum Phase : uint8_t { start, listed, made, confirming, to_watch, waiting, unknown, holding, removing, left };
enum Server : uint8_t { nowhere, a, b };
enum Pending : uint8_t { nothing, a_create, a_delete };  // still on its way, though its connection is gone
enum Bits : uint8_t { exists = 1, owner = 2, session_lives = 4, last_attempt = 8, at_a = 16, at_b = 32, other = 64 };
// What a contender has seen on its present connection: one before it, and then that this one is gone.
enum Next : uint8_t { not_next, one_before, none_before };
constexpr uint8_t kNoNode = 255;

struct Contender {
  uint8_t phase, server, pending;
  uint8_t place;   // the node that it waits for
  uint8_t alive;   // the session lives, whether it knows or not
  uint8_t ahead;   // it has seen more than B has
  uint8_t again;   // after its withdrawal
  uint8_t proved;  // by a quorum, so recently that its session cannot have expired since
  uint8_t next;    // see Next
};

// What surrounds the two in a history: others in the line, which come and go, and outsiders that delete its nodes.
struct Surroundings {
  size_t others = 0;  // at once
  std::array<bool, 2> deletes{};
};
constexpr size_t kOther = 2;  // the owner of the others' nodes

class Servers {
 public:
  static size_t owner_of(uint8_t node) {
    if (node & other) return kOther;
    return node & owner ? 1 : 0;
  }
  void surround(const Surroundings& by) { around_ = by; }

  struct State {
    std::array<uint8_t, 8> nodes;  // in the order of their numbers
    std::array<Contender, 2> contenders;
    uint8_t deposed, was_deposed, stale;  // about B
    uint8_t losses, expiries, withdrawals;
    uint8_t overflow;
  };

  // Clears nodes that no server has any more, and proofs of what is not held.
  void tidy(State& s) const {
    for (Contender& c : s.contenders) {
      if (c.phase == start || c.phase == unknown || c.phase == removing || c.phase == left) c.proved = 0;
      const bool waits = c.phase == to_watch || c.phase == waiting || c.phase == confirming;
      if (c.server == nowhere || !waits) c.next = not_next;
    }
    size_t to = 0;
    for (uint8_t from = 0; from < s.nodes.size(); ++from) {
      const uint8_t node = s.nodes[from];
      const bool needed = (node & (at_a | at_b)) || s.contenders[0].place == from || s.contenders[1].place == from;
      if (!(node & exists) || !needed) continue;
      for (Contender& c : s.contenders) {
        if (c.place == from) c.place = static_cast<uint8_t>(to);
      }
      s.nodes[to++] = node;
    }
    std::fill(s.nodes.begin() + static_cast<ptrdiff_t>(to), s.nodes.end(), uint8_t{0});
  }

 protected:
  static bool holds(const State& s, size_t who) { return s.contenders[who].phase == holding; }
  static uint8_t own_node(const State& s, size_t who, uint8_t seen) {
    for (uint8_t i = 0; i < s.nodes.size(); ++i) {
      const uint8_t wanted = seen | session_lives | last_attempt;
      if ((s.nodes[i] & wanted) == wanted && owner_of(s.nodes[i]) == who) return i;
    }
    return kNoNode;
  }
  static uint8_t seen_by(const State& s, size_t who) { return s.contenders[who].server == a ? at_a : at_b; }
  static uint8_t last_other(const State& s, size_t who, uint8_t seen) {
    uint8_t last = kNoNode;
    for (uint8_t i = 0; i < s.nodes.size(); ++i) {
      if ((s.nodes[i] & seen) && owner_of(s.nodes[i]) != who) last = i;
    }
    return last;
  }
  template <class Change>
  static void each_own(State& s, size_t who, Change change) {
    for (uint8_t& node : s.nodes) {
      if (node && owner_of(node) == who) change(node);
    }
  }

  static void put_node(State& s, size_t who) {
    const auto free = std::find(s.nodes.begin(), s.nodes.end(), uint8_t{0});
    s.overflow = free == s.nodes.end();
    if (s.overflow) return;
    *free = static_cast<uint8_t>(exists |
                                 (who == kOther ? other
                                  : who == 1    ? owner
                                                : 0) |
                                 session_lives | last_attempt | at_a);
    s.stale = 1;
  }
  static void delete_own(State& s, size_t who) {
    const uint8_t at = own_node(s, who, at_a);
    if (at != kNoNode) s.nodes[at] &= static_cast<uint8_t>(~at_a);
    s.stale = 1;
  }
  static void catch_up(State& s) {
    for (uint8_t& node : s.nodes) node = static_cast<uint8_t>((node & ~at_b) | (node & at_a ? at_b : 0));
    for (Contender& c : s.contenders) c.ahead = 0;
    s.stale = 0;
  }
  // Notes that a transaction's answer has come.
  static void note_answer(State& s, size_t who) {
    s.contenders[who].proved = 1;
    if (s.contenders[who].server == b) catch_up(s);
    note_read(s, who);
  }
  static void note_read(State& s, size_t who) {
    if (s.contenders[who].server == a) s.contenders[who].ahead |= s.stale;
  }
  static bool answers(const State& s, size_t who) {
    const Contender& c = s.contenders[who];
    return !(c.server == b && s.deposed) && c.pending == nothing;
  }

  void server_steps(const State& s, Steps<State>& out) const {
    State next = s;
    if (s.stale && !s.deposed) {
      catch_up(next);
      out.move(next, kNobody, "B catches up");
    }
    next = s;
    if (!s.stale && !s.was_deposed) {
      next.deposed = next.was_deposed = 1;
      out.chance(next, kNobody, "B, the leader, is deposed and does not know it");
    }
    next = s;
    if (!s.deposed) return;
    next.deposed = 0;
    for (Contender& c : next.contenders) c.server = c.server == b ? uint8_t{nowhere} : c.server;
    out.move(next, kNobody, "B learns that it is deposed and drops its clients");
  }

  void others_steps(const State& s, Steps<State>& out) const {
    size_t there = 0;
    for (uint8_t at = 0; at < s.nodes.size(); ++at) {
      if (!(s.nodes[at] & at_a)) continue;
      State next = s;
      next.nodes[at] &= static_cast<uint8_t>(~at_a);
      next.stale = 1;
      const size_t whose = owner_of(s.nodes[at]);
      there += whose == kOther ? 1 : 0;
      if (whose == kOther) out.move(next, kNobody, "somebody else goes");
      if (whose < kOther && around_.deletes[whose]) out.chance(next, whose, "somebody deletes its node");
    }
    if (there >= around_.others) return;
    State next = s;
    put_node(next, kOther);
    if (!next.overflow) out.chance(next, kNobody, "somebody else comes");
  }

  void session_steps(const State& s, size_t who, Steps<State>& out) const {
    State next = s;
    const Contender& c = s.contenders[who];
    each_own(next, who, [&](uint8_t& node) {
      if (!(node & session_lives) && (node & at_a)) next.stale = 1, node &= static_cast<uint8_t>(~at_a);
    });
    if (next.nodes != s.nodes) out.move(next, who, "the session that it left behind expires");
    if (!c.alive || c.proved || s.expiries == 0 || c.phase == left) return;
    next = s;
    next.contenders[who].alive = 0;
    next.contenders[who].pending = nothing;
    --next.expiries;
    each_own(next, who, [](uint8_t& node) {
      if (node & session_lives) node &= static_cast<uint8_t>(~at_a);
    });
    next.stale = 1;
    if (c.server == a || !s.deposed) next.contenders[who].server = nowhere;
    out.chance(next, who, "its session expires");
  }

  // The fence passes, for a holder.
  void time_steps(State next, size_t who, Steps<State>& out) const {
    Contender& c = next.contenders[who];
    if (!c.proved) return;
    c.proved = 0;
    if (c.phase == holding) c.phase = removing;
    out.chance(next, who, "its last proof is too old");
  }

  // The quorum gets what was sent before the connection broke, or does not.
  void pending_steps(const State& s, size_t who, Steps<State>& out) const {
    if (s.contenders[who].pending == nothing) return;
    State next = s;
    next.contenders[who].pending = nothing;
    out.move(next, who, "what was on its way is lost");
    if (s.contenders[who].pending == a_create) put_node(next, who);
    if (s.contenders[who].pending == a_delete) delete_own(next, who);
    out.move(next, who, "what was on its way is done");
  }

  void connect(const State& s, size_t who, Steps<State>& out) const {
    const Contender& c = s.contenders[who];
    if (c.phase == left) return;
    State next = s;
    if (!c.alive) {
      start_again(next, who, c.phase == holding || c.phase == removing);
      out.move(next, who, "hears that its session is over");
    } else {
      next.contenders[who].server = a;
      out.move(next, who, "connects to A");
    }
    if (c.ahead || (!c.alive && !s.deposed)) return;
    next = s;
    next.contenders[who].server = b;
    out.move(next, who, "connects to B");
  }

  // LockSet::acquire in a new session, which closes the one before.
  static void start_again(State& s, size_t who, bool over) {
    Contender& c = s.contenders[who];
    each_own(s, who, [](uint8_t& node) { node &= static_cast<uint8_t>(~(session_lives | last_attempt)); });
    const bool done = over && !(c.phase == removing && c.again);
    c = {static_cast<uint8_t>(done ? left : start), a, nothing, kNoNode, 1, 0, 0, 0, 0};
  }

 private:
  Surroundings around_{};
};

}  // namespace zklock::model::line
