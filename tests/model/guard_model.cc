// SPDX-License-Identifier: Apache-2.0
// How the session of a killed zklock is ended: src/zk/session_page.cc, src/host/process/guard_process.cc (leave),
// survivor.cc (end_after), src/command/lock/job.cc (give_back), src/command/queue/workers.cc. A is zklock, B and C are
// its guards, each with a command under a node of its own: a lock, or the claim on an item. D wants what B's command
// runs under. The page has the session's id and password, and how many guards have not ended.
//
// Time is left out. lease_model.cc shows that the fence is earlier than the session's end, so here a session expires
// only when nothing runs under it any more. What a command has started dies soon after its guard: zklock kills it or,
// if it is the command itself, the kernel. Left out are also a guard that is stopped for good, and D's line: it takes
// what is not taken by a node.
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::guard {
namespace {

constexpr uint8_t kGuards = 2;
constexpr uint8_t kSessions = 2;

enum ZklockPhase : uint8_t {
  opening,         // it has no session
  taking_id_away,  // from the page, before it writes the rest
  writing_password,
  writing_id,
  at_work,
  dismissing,  // its guards
  closing,     // its session
  clearing,    // the page
  exited,
  killed,
};
enum GuardPhase : uint8_t {
  attending,  // to zklock, or to its end
  counting,   // itself out, in two steps; only in a mutant
  last,       // of the guards, to close the session
  taken_up,   // the session, to close it
  over,
  dismissed,
  guard_killed,
  counted_by_zklock,  // it was killed; only in a mutant
};
enum Tree : uint8_t {
  nobody,
  running,
  left,    // by the command, which has ended
  let_go,  // and it runs on, on purpose
  dying,   // it was killed, and not reaped
};
enum Ownership : uint8_t { without, creating, held, started, removing };
enum Request : uint8_t { no_request, create, remove_it, answered };
enum RivalPhase : uint8_t { waiting, at_it, rival_over };
enum Wrong : uint8_t { nothing, living_one_closed, mixed_page, let_go_killed };

class Guards {
 public:
  enum class Mutant {
    none,
    closes_while_dying,
    eof_is_death,
    first_closes,
    careless_count,
    killed_is_counted,
    ended_is_counted,
    id_first,
    id_stays,
    id_goes_at_each_connection,
    page_after_node,
    cleared_first,
    dismissed_first,
    left_is_free,
    let_go_is_killed
  };
  static constexpr std::array kMutants = {"a guard closes before all that it has killed is reaped",
                                          "zklock's end of the socket is closed, so it is dead",
                                          "the first guard at its end closes",
                                          "guards count themselves out by a read and a write",
                                          "zklock counts a guard out that was killed",
                                          "a guard whose command has ended is counted out",
                                          "the page has the id before the password",
                                          "the next session's password is written beside the old id",
                                          "the page is without an id while it is written for a new connection",
                                          "the page is written when the node is there",
                                          "the page is cleared before the session is closed",
                                          "guards are dismissed before the delete is answered",
                                          "the node is deleted while something is left that was not let go",
                                          "what was let go is killed when zklock dies"};

  struct Guard {
    uint8_t phase, tree;
    uint8_t order;    // the order to start a command is in its socket
    uint8_t cut;      // zklock takes it for dead and has closed its end
    uint8_t counted;  // what it has read of the count, or that it is counted out; mutants only
  };
  struct Node {
    uint8_t ours;     // what zklock knows
    uint8_t request;  // it is on its way, or its answer
    uint8_t session;  // the owner; 0: there is none
  };
  struct State {
    uint8_t zklock, frozen, connected;
    uint8_t session, opened;  // its session, and how many it had
    uint8_t fence;            // it has passed
    uint8_t leaves;           // for good
    uint8_t close;            // it is on its way
    uint8_t lives[kSessions];
    uint8_t id, password, count;  // the page
    uint8_t excused;              // a guard was killed or has met no server: then a kill may cost T
    uint8_t wrong;
    Guard guards[kGuards];
    Node nodes[kGuards];
    uint8_t rival, turns;
  };

  Guards(Size size, Mutant mutant)
      : sessions_(size == Size::full || mutant == Mutant::id_stays ? kSessions : uint8_t{1}),
        turns_(size == Size::full ? 2 : 1),
        mutant_(mutant) {}

  State first() const {
    State s{};
    s.count = kGuards;
    s.turns = turns_;
    return s;
  }

  void tidy(State& s) const {
    if (!lives(s)) s.frozen = s.connected = s.fence = s.leaves = 0;
    for (Guard& guard : s.guards) {
      if (is_over(guard)) guard.cut = guard.counted = 0;
    }
  }

  const char* fault(const State& s) const {
    if (s.rival == at_it && holds(s.guards[0])) return "two run under one lock";
    if (s.wrong == living_one_closed) return "the session of a zklock that lives was closed";
    if (s.wrong == mixed_page) return "a session was taken up with the password of another one";
    if (s.wrong == let_go_killed) return "what was let go was killed";
    if (costs_a_timeout(s)) return "zklock was killed, and nobody gives back what it had";
    return nullptr;
  }

  bool is_settled(const State& s) const {
    const auto holding = [](const Guard& guard) { return holds(guard) || guard.order; };
    if (s.rival != rival_over || std::any_of(s.guards, s.guards + kGuards, holding)) return false;
    return s.frozen || (!lives(s) && std::all_of(s.guards, s.guards + kGuards, is_over));
  }

  void steps(const State& s, Steps<State>& out) const {
    happenings(s, out);
    server_steps(s, out);
    rival_steps(s, out);
    if (lives(s) && !s.frozen) zklock_steps(s, out);
    for (size_t i = 0; i < kGuards; ++i) {
      tree_steps(s, i, out);
      guard_steps(s, i, out);
    }
  }

 private:
  bool is(Mutant mutant) const { return mutant_ == mutant; }
  static bool lives(const State& s) { return s.zklock != exited && s.zklock != killed; }
  static bool is_over(const Guard& guard) { return guard.phase >= over; }
  // True if something runs for which the lock is held.
  static bool holds(const Guard& guard) { return guard.tree == running || guard.tree == left || guard.tree == dying; }
  static bool has_work(const State& s) {
    return std::any_of(s.guards, s.guards + kGuards, [](const Guard& guard) { return holds(guard) || guard.order; });
  }
  static bool costs_a_timeout(const State& s) {
    if (s.zklock != killed || s.session == 0 || s.excused) return false;
    const auto remains = [&](const Node& node) { return node.session == s.session; };
    return std::any_of(s.nodes, s.nodes + kGuards, remains) && std::all_of(s.guards, s.guards + kGuards, is_over);
  }
  static size_t name_of(size_t guard) { return guard + 1; }

  // --- what may happen to zklock and its guards

  void happenings(const State& s, Steps<State>& out) const {
    if (lives(s)) {
      State next = s;
      next.zklock = killed;
      for (Node& node : next.nodes) {
        if (node.request == answered) node.request = no_request;
      }
      out.chance(next, 0, "is killed");
      next = s;
      next.frozen = !s.frozen;
      out.chance(next, 0, s.frozen ? "is continued" : "is frozen");
    }
    if (s.connected) lose_connection(s, out);
    for (size_t i = 0; i < kGuards; ++i) {
      if (!is_over(s.guards[i])) kill_guard(s, i, false, out);
    }
  }

  // A request that was sent may still be carried out.
  static void lose_connection(State s, Steps<State>& out) {
    s.connected = 0;
    for (Node& node : s.nodes) {
      if (node.request == answered) node.request = no_request;
    }
    out.chance(s, kNobody, "A's connection is lost");
  }

  static void kill_guard(State s, size_t i, bool by_zklock, Steps<State>& out) {
    Guard& guard = s.guards[i];
    guard.phase = guard_killed;
    guard.order = 0;
    if (holds(guard)) guard.tree = dying;
    s.excused = 1;
    if (by_zklock) return out.move(s, 0, "kills the guard that it takes for dead");
    out.chance(s, name_of(i), "is killed");
  }

  // --- the servers

  void server_steps(const State& s, Steps<State>& out) const {
    for (uint8_t i = 0; i < kGuards; ++i) carry_out(s, i, out);
    if (s.close) {
      State next = s;
      next.close = 0;
      end_session(next, s.session);
      out.move(next, kNobody, "A's close is carried out");
      next = s;
      next.close = 0;
      out.chance(next, kNobody, "A's close is lost");
    }
    for (uint8_t number = 1; number <= s.opened; ++number) expire(s, number, out);
    const bool silent = lives(s) && s.session != 0 && (s.frozen || !s.connected);
    if (!silent || s.fence) return;
    State next = s;
    next.fence = 1;
    out.move(next, kNobody, "the fence passes");
  }

  // Requests on a dead zklock's connection are served before or after the guard's close, or never.
  static void carry_out(State s, size_t i, Steps<State>& out) {
    Node& node = s.nodes[i];
    if (node.request != create && node.request != remove_it) return;
    if (!lives(s)) {
      State next = s;
      next.nodes[i].request = no_request;
      out.chance(next, kNobody, "a request of A's is lost");
    }
    const bool refused = !s.lives[s.session - 1];
    const bool creates = node.request == create;
    if (!refused && creates) node.session = s.session;
    if (!refused && !creates && node.session == s.session) node.session = 0;
    node.request = s.connected && !refused ? answered : no_request;
    out.move(s, kNobody,
             refused   ? "a request of A's is refused"
             : creates ? "A's node is made"
                       : "A's node is deleted");
  }

  static void end_session(State& s, uint8_t number) {
    s.lives[number - 1] = 0;
    for (Node& node : s.nodes) {
      if (node.session == number) node.session = 0;
    }
  }

  static void expire(State s, uint8_t number, Steps<State>& out) {
    if (!s.lives[number - 1]) return;
    if (number == s.session && (has_work(s) || (lives(s) && !s.fence))) return;
    end_session(s, number);
    out.move(s, kNobody, "a session expires");
  }

  // --- the other one

  static void rival_steps(State s, Steps<State>& out) {
    if (s.rival == waiting) {
      if (s.nodes[0].session != 0) return;
      s.rival = at_it;
      return out.move(s, 3, "has the lock");
    }
    if (s.rival != at_it) return;
    --s.turns;
    s.rival = s.turns == 0 ? rival_over : waiting;
    out.move(s, 3, "gives the lock back");
  }

  // --- zklock

  void zklock_steps(const State& s, Steps<State>& out) const {
    for (size_t i = 0; i < kGuards; ++i) {
      if (s.guards[i].cut && !is_over(s.guards[i])) kill_guard(s, i, true, out);
      if (is(Mutant::killed_is_counted)) count_killed(s, i, out);
    }
    switch (static_cast<ZklockPhase>(s.zklock)) {
      case opening: return open(s, out);
      case taking_id_away:
      case writing_password:
      case writing_id: return write_page(s, out);
      case at_work: return work(s, out);
      case dismissing: return dismiss(s, out);
      case closing: return close(s, out);
      case clearing: return clear(s, out);
      case exited:
      case killed: return;
    }
  }

  void open(State s, Steps<State>& out) const {
    State next = s;
    next.zklock = exited;
    out.move(next, 0, "ends");
    if (s.opened == sessions_) return;
    s.session = ++s.opened;
    s.lives[s.session - 1] = 1;
    s.connected = 1;
    s.fence = 0;
    s.zklock = is(Mutant::page_after_node)         ? at_work
               : s.id == 0 || is(Mutant::id_stays) ? writing_password
                                                   : taking_id_away;
    if (is(Mutant::id_first)) s.zklock = writing_id;
    out.move(s, 0, "opens a session");
  }

  // SessionPage::note
  void write_page(State s, Steps<State>& out) const {
    const bool id_first = is(Mutant::id_first);
    switch (s.zklock) {
      case taking_id_away:
        s.id = 0;
        s.zklock = writing_password;
        return out.move(s, 0, "takes the id away");
      case writing_password:
        s.password = s.session;
        s.zklock = id_first ? at_work : writing_id;
        return out.move(s, 0, "writes the password");
      default:
        s.id = s.session;
        s.zklock = id_first ? writing_password : at_work;
        return out.move(s, 0, "writes the id");
    }
  }

  void work(const State& s, Steps<State>& out) const {
    if (!s.connected) connect_again(s, out);
    for (size_t i = 0; i < kGuards; ++i) {
      serve(s, i, out);
      if (s.connected) ask(s, i, out);
    }
    if (has_work(s)) return;
    State next = s;
    next.zklock = closing;
    if (s.fence) out.move(next, 0, "gives its session up");
    if (is(Mutant::cleared_first) && s.fence) {
      next.id = 0;
      out.move(next, 0, "clears the page and gives its session up");
    }
    const auto given_back = [this](const Node& node) {
      return node.ours == without || (is(Mutant::dismissed_first) && node.ours == removing);
    };
    if (!std::all_of(s.nodes, s.nodes + kGuards, given_back)) return;
    next = s;
    next.zklock = dismissing;
    next.leaves = 1;
    out.move(next, 0, "has given all back");
  }

  // It looks up the outcome of its requests. The id of an ended session does no harm: zklock may clear it or be killed
  // before that.
  void connect_again(State s, Steps<State>& out) const {
    if (s.lives[s.session - 1]) {
      for (Node& node : s.nodes) node.request = no_request;
      s.connected = 1;
      if (is(Mutant::id_goes_at_each_connection)) s.zklock = taking_id_away;
      return out.move(s, 0, "connects again");
    }
    if (has_work(s)) return;
    forget_session(s);
    out.move(s, 0, "is told that its session is over");
    s.id = 0;
    out.move(s, 0, "is told that its session is over, and clears the page");
  }

  static void forget_session(State& s) {
    s.session = s.connected = s.fence = 0;
    for (Node& node : s.nodes) node.ours = node.request = without;
    s.zklock = opening;
  }

  // Its end of the socket is closed while it lives; it may be frozen then.
  void serve(State s, size_t i, Steps<State>& out) const {
    Node& node = s.nodes[i];
    Guard& guard = s.guards[i];
    if (node.ours != started || guard.order) return;
    if (!is_over(guard) && !guard.cut) {
      State next = s;
      next.guards[i].cut = 1;
      out.chance(next, 0, "takes a guard for dead and closes its end");
    }
    if (guard.tree == left && !s.fence) {
      if (is(Mutant::left_is_free)) {
        node.ours = removing;
        return out.move(s, 0, "sees the command's end");
      }
      guard.tree = let_go;
      return out.move(s, 0, "lets go of what the command left");
    }
    if (holds(guard)) return;
    node.ours = removing;
    out.move(s, 0, "sees the command's end");
  }

  void ask(State s, size_t i, Steps<State>& out) const {
    Node& node = s.nodes[i];
    const bool here = node.session == s.session;
    switch (static_cast<Ownership>(node.ours)) {
      case without:
        if (s.fence) return;
        node.ours = creating;
        node.request = create;
        return out.move(s, 0, "asks for a node");
      case creating:
        if (node.request != answered && node.request != no_request) return;
        node.ours = here ? held : without;
        node.request = no_request;
        return out.move(s, 0, here ? "has a node" : "finds that it has no node");
      case held: return use(s, i, out);
      case started: return;
      case removing: return give_back(s, i, out);
    }
  }

  void use(State s, size_t i, Steps<State>& out) const {
    if (is(Mutant::page_after_node) && s.id != s.session) {
      s.id = s.password = s.session;
      return out.move(s, 0, "writes the page");
    }
    s.nodes[i].ours = removing;
    out.move(s, 0, "waits no longer");
    Guard& guard = s.guards[i];
    if (s.fence || guard.phase != attending || guard.cut || (i == 0 && s.rival == at_it)) return;
    s.nodes[i].ours = started;
    guard.order = 1;
    out.move(s, 0, "has a command started");
  }

  static void give_back(State s, size_t i, Steps<State>& out) {
    Node& node = s.nodes[i];
    if (node.request == remove_it) return;
    if (node.request == no_request && node.session == s.session) {
      node.request = remove_it;
      return out.move(s, 0, "asks for the delete");
    }
    node.ours = without;
    node.request = no_request;
    out.move(s, 0, "knows that its node is gone");
  }

  // Job::give_back
  static void dismiss(const State& s, Steps<State>& out) {
    State next = s;
    for (size_t i = 0; i < kGuards; ++i) {
      if (is_over(s.guards[i]) || s.guards[i].tree != nobody) continue;
      next = s;
      next.guards[i].phase = dismissed;
      out.move(next, 0, "dismisses a guard");
    }
    next = s;
    next.zklock = closing;
    out.move(next, 0, "has dismissed its guards");
  }

  // The library waits for the answer, but not forever.
  static void close(State s, Steps<State>& out) {
    State next = s;
    next.zklock = clearing;
    out.move(next, 0, s.lives[s.session - 1] ? "does not wait for the close" : "has closed its session");
    if (!s.connected || s.close || !s.lives[s.session - 1]) return;
    s.close = 1;
    out.move(s, 0, "asks for the close");
  }

  // A kill before that leaves the id of a session that is over, or that a guard closes because the close was lost.
  static void clear(State s, Steps<State>& out) {
    s.id = 0;
    s.close = 0;
    const bool leaves = s.leaves;
    forget_session(s);
    if (leaves) s.zklock = exited;
    out.move(s, 0, leaves ? "clears the page and ends" : "clears the page");
  }

  static void count_killed(State s, size_t i, Steps<State>& out) {
    if (s.guards[i].phase != guard_killed || s.count == 0) return;
    s.guards[i].phase = counted_by_zklock;
    --s.count;
    out.move(s, 0, "counts a guard out that was killed");
  }

  // --- the command

  void tree_steps(const State& s, size_t i, Steps<State>& out) const {
    State next = s;
    Guard& guard = next.guards[i];
    switch (static_cast<Tree>(guard.tree)) {
      case running:
        guard.tree = left;
        out.move(next, name_of(i), "its command ends and leaves something behind");
        guard.tree = nobody;
        end_command(next, i);
        return out.move(next, name_of(i), "its command ends");
      case left: guard.tree = nobody; return out.chance(next, name_of(i), "what was left behind ends");
      case dying: guard.tree = nobody; return out.move(next, name_of(i), "all that was killed is reaped");
      case nobody:
      case let_go: return;
    }
  }

  void end_command(State& s, size_t i) const {
    Guard& guard = s.guards[i];
    if (!is(Mutant::ended_is_counted) || is_over(guard) || guard.counted) return;
    guard.counted = 1;
    --s.count;
  }

  // --- a guard

  void guard_steps(const State& s, size_t i, Steps<State>& out) const {
    switch (static_cast<GuardPhase>(s.guards[i].phase)) {
      case attending: return attend(s, i, out);
      case counting: return count_carelessly(s, i, out);
      case last: return take_up(s, i, out);
      case taken_up: return close_session(s, i, out);
      default: return;
    }
  }

  // GuardProcess::read_orders, carry_on: all orders are read before the end of the socket.
  void attend(State s, size_t i, Steps<State>& out) const {
    Guard& guard = s.guards[i];
    if (guard.order) {
      guard.order = 0;
      if (!s.fence) guard.tree = running;
      return out.move(s, name_of(i), s.fence ? "is asked to start, and the fence has passed" : "starts its command");
    }
    if (!lives(s) || guard.cut) return see_end(s, i, out);
    if (!s.fence || (guard.tree != running && guard.tree != left)) return;
    guard.tree = dying;
    out.move(s, name_of(i), "kills at the fence");
  }

  // GuardProcess::zklock_is_gone, end_after
  void see_end(State s, size_t i, Steps<State>& out) const {
    Guard& guard = s.guards[i];
    const bool kills = guard.tree == running || guard.tree == left;
    if (kills || (guard.tree == let_go && is(Mutant::let_go_is_killed))) {
      if (!kills) s.wrong = let_go_killed;
      guard.tree = dying;
      return out.move(s, name_of(i), "sees the end of the socket and kills");
    }
    if (guard.tree == dying && !is(Mutant::closes_while_dying)) return;
    if (!lives(s) || is(Mutant::eof_is_death)) return count_out(s, i, out);
    guard.phase = over;
    s.excused = 1;
    out.chance(s, name_of(i), "waits no longer for A's end");
  }

  void count_out(State s, size_t i, Steps<State>& out) const {
    Guard& guard = s.guards[i];
    if (is(Mutant::careless_count)) {
      guard.counted = s.count;
      guard.phase = counting;
      return out.move(s, name_of(i), "reads the count");
    }
    if (!guard.counted && s.count > 0) --s.count;
    guard.phase = s.count == 0 || is(Mutant::first_closes) ? last : over;
    out.move(s, name_of(i), guard.phase == last ? "counts itself out, the last one" : "counts itself out");
  }

  static void count_carelessly(State s, size_t i, Steps<State>& out) {
    Guard& guard = s.guards[i];
    s.count = static_cast<uint8_t>(guard.counted - 1);
    guard.phase = s.count == 0 ? last : over;
    out.move(s, name_of(i), "writes the count");
  }

  // SessionPage::Content::close_session
  static void take_up(State s, size_t i, Steps<State>& out) {
    Guard& guard = s.guards[i];
    if (s.id == 0) {
      guard.phase = over;
      return out.move(s, name_of(i), "finds no session to close");
    }
    give_up(s, i, out);
    if (s.password != s.id) s.wrong = mixed_page;
    guard.phase = s.lives[s.id - 1] ? taken_up : over;
    out.move(s, name_of(i), guard.phase == over ? "is told that the session is over" : "takes the session up");
  }

  static void close_session(State s, size_t i, Steps<State>& out) {
    give_up(s, i, out);
    s.guards[i].phase = over;
    if (s.lives[s.id - 1] && lives(s)) s.wrong = living_one_closed;
    end_session(s, s.id);
    out.move(s, name_of(i), "closes the session");
  }

  static void give_up(State s, size_t i, Steps<State>& out) {
    s.guards[i].phase = over;
    s.excused = 1;
    out.chance(s, name_of(i), "meets no server that answers");
  }

  uint8_t sessions_;
  uint8_t turns_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::guard

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::guard::Guards>("guard", argc, argv);
}
