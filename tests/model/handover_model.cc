// SPDX-License-Identifier: Apache-2.0
// A contender takes its turn when it hears that the only one before it is gone, without a look (Lock::is_next in
// src/recipe/lock/lock.cc). The ensemble is A, which has all changes, and B, which lags and gets them one by one in
// their order. What a server sends arrives in the order of sending, on one connection. After a reconnect, the server
// tells of what has changed meanwhile in any order. A server that has less than the contender has seen refuses it.
//
// The contender U, which is exclusive, is modelled in full. Two may stand before it, each exclusive or shared, and one
// comes behind it. They hold the lock as soon as it is their turn, until their nodes are gone. Outsiders write to
// nodes, and delete U's before its turn. Left out: later deletes, which take the lock from U (lease.h), lost creates
// and deletes (line_model.cc), how long a proof is good (lease_model.cc), and programs that would not wait for U.
#include "checker.h"
#include "run.h"

#include <algorithm>
#include <array>
#include <bit>

namespace zklock::model::handover {
namespace {

// The nodes, in the order of their numbers, which is that of their creation.
enum Node : uint8_t { head, middle, ours, behind };
constexpr size_t kNodes = 4;
// What happens to a node, and what a server sends: about a node, or with a set of nodes (a bit for each).
enum Kind : uint8_t { made, gone, written, listed, refused, watched_both, saw_gone, saw_written, saw_line };
constexpr uint8_t of(Kind kind, uint8_t part = 0) {
  return static_cast<uint8_t>(kind << 4 | part);
}
constexpr Kind kind_in(uint8_t what) {
  return static_cast<Kind>(what >> 4);
}
constexpr uint8_t part_in(uint8_t what) {
  return what & 15;
}

constexpr uint8_t kOfLine = 1 << kNodes;  // the watch on the line, beside a bit for each node's
enum Phase : uint8_t { looking, listing, confirming, to_watch, watching, waiting, reading, holding, left };
enum Server : uint8_t { nowhere, a, b };
enum Watch : uint8_t { none, asked, set };

constexpr uint8_t bit(size_t node) {
  return static_cast<uint8_t>(1 << node);
}
constexpr uint8_t kBefore = bit(head) | bit(middle);

class Handover {
 public:
  enum class Mutant {
    none,
    two_before,
    any_connection,
    any_event,
    line_event,
    own_fired,
    old_proof,
    number_below,
    old_read
  };
  static constexpr std::array kMutants = {"one before us, but another one behind it",
                                          "the connection changed between list and event",
                                          "an event of another kind",
                                          "an event of the line",
                                          "its own event is ignored",
                                          "its proof is too old",
                                          "a new contender gets a lower number",
                                          "what is read under the lock is older than its turn"};
  Handover(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  struct State {
    std::array<uint8_t, 9> log;    // the last changes, which A has; all servers have those before them
    std::array<uint8_t, 6> queue;  // what is on its way to U
    std::array<uint8_t, 6> at;     // and, for an answer, the changes that the server had then
    uint8_t length, at_b, queued;  // how many there are of each; how many changes B has
    uint8_t base, come;            // the nodes before these changes; those that have ever been there
    uint8_t shared, closed;        // of those before U: the shared ones, and those that U may not read
    uint8_t phase, server;
    uint8_t seen;             // changes, by answers
    uint8_t kept;             // the watches that the server has
    uint8_t before, watched;  // as of the last list; the node for which it waits
    uint8_t here;             // that list came through this connection
    uint8_t watch, watch_fired, watch_gone, watches_line;
    uint8_t own, own_fired;  // see Watch
    uint8_t proved, alive, had_turn;
    uint8_t reads, read_old;   // whether it has to read what the one before it has written; it did, and it was too old
    uint8_t faults, overflow;  // how many faults may still come
  };

  State first() const {
    State s{};
    s.phase = looking;
    s.server = a;
    s.proved = s.alive = 1;
    s.faults = full_ ? 3 : 2;
    return s;
  }

  // Forgets what no longer matters.
  void tidy(State& s) const {
    if (s.phase == left) {
      s = State{};
      s.phase = left;
    }
    if (is_turn(s)) {
      s.queue.fill(0), s.at.fill(0);
      s.queued = s.kept = s.before = s.watch = s.here = s.closed = s.own = s.own_fired = 0;
    }
    if (s.phase == holding) s.seen = s.at_b = s.length;
    if (!s.watch) s.watched = s.watch_fired = s.watch_gone = s.watches_line = 0;
    if (s.faults == 0 && s.server != nowhere) s.seen = position(s);
    if (s.faults == 0 && s.server == a) s.at_b = s.length;
    const uint8_t known = std::min(s.at_b, s.seen);
    s.base = there(s, known);
    std::shift_left(s.log.begin(), s.log.end(), known);
    std::fill(s.log.end() - known, s.log.end(), uint8_t{0});
    for (uint8_t& at : s.at) at = static_cast<uint8_t>(at - std::min(at, known));
    for (uint8_t* count : {&s.length, &s.at_b, &s.seen}) *count = static_cast<uint8_t>(*count - known);
  }

  const char* fault(const State& s) const {
    if (s.overflow) return "more changes or messages than the model has room for";
    if (s.read_old) return "what it has read is older than its turn";
    if (!is_turn(s)) return nullptr;
    if (!s.had_turn) return "it holds the lock, and its turn never came";
    for (size_t node = 0; node < kNodes; ++node) {
      if (node != ours && holds(s, node)) return "two hold the lock";
    }
    return nullptr;
  }

  bool is_settled(const State& s) const { return s.phase == left; }

  void steps(const State& s, Steps<State>& out) const {
    if (s.phase == left) return;
    if (!has_entered(s)) return enter(s, out);
    // While its proof is good, its session lives, and nobody passes it.
    if (s.phase == holding && s.proved) return end(s, out);
    line_steps(s, out);
    outsider_steps(s, out);
    server_steps(s, out);
    session_steps(s, out);
    if (s.phase == holding) return end(s, out);
    if (s.server == nowhere) return connect(s, out);
    if (s.queued > 0) take(s, out);
    client_steps(s, out);
    lose(s, out);
  }

 private:
  static constexpr size_t kContender = 20;  // U, in traces

  // What a server has that has the first `length` changes.
  static uint8_t there(const State& s, uint8_t length) {
    uint8_t nodes = s.base;
    for (uint8_t i = 0; i < length; ++i) {
      const uint8_t node = bit(part_in(s.log[i]));
      if (kind_in(s.log[i]) == made) nodes |= node;
      if (kind_in(s.log[i]) == gone) nodes &= static_cast<uint8_t>(~node);
    }
    return nodes;
  }
  static uint8_t now(const State& s) { return there(s, s.length); }
  static bool was_made(const State& s, uint8_t node) { return s.come & bit(node); }
  static bool has_entered(const State& s) { return was_made(s, ours); }

  // recipe/line.h: an exclusive one holds if none is before it, a shared one if no exclusive one is.
  static bool holds(const State& s, size_t node) {
    const auto before = static_cast<uint8_t>(now(s) & (bit(node) - 1));
    const bool is_shared = s.shared & bit(node);
    return (now(s) & bit(node)) && (is_shared ? before & ~s.shared : before) == 0;
  }

  // A has the change at once. U's server tells of it.
  static void change(State& s, uint8_t what) {
    if (s.length == s.log.size()) s.overflow = 1;
    if (s.overflow) return;
    s.log[s.length++] = what;
    s.come |= bit(part_in(what));
    if (s.server == a) tell(s, what);
    if (holds(s, ours)) s.had_turn = 1;
  }

  static void tell(State& s, uint8_t what) {
    const uint8_t node = part_in(what);
    const Kind kind = kind_in(what);
    if (kind != made && (s.kept & bit(node))) {
      s.kept &= static_cast<uint8_t>(~bit(node));
      send(s, of(kind == gone ? saw_gone : saw_written, node));
    }
    if (kind != written && (s.kept & kOfLine)) {
      s.kept &= static_cast<uint8_t>(~kOfLine);
      send(s, of(saw_line));
    }
  }

  static void send(State& s, uint8_t message, uint8_t at = 0) {
    if (s.queued == s.queue.size()) s.overflow = 1;
    if (s.overflow) return;
    s.queue[s.queued] = message;
    s.at[s.queued++] = at;
  }

  // Those before U come, and then U, whose list is next.
  void enter(const State& s, Steps<State>& out) const {
    for (const Node node : {head, middle}) {
      if (was_made(s, node) || (node == middle && !was_made(s, head))) continue;
      State next = s;
      change(next, of(made, node));
      out.move(next, kNobody, "one comes");
      next.closed |= bit(node);
      if (node == head || full_) out.move(next, kNobody, "one comes that may not be read");
      next.closed = s.closed;
      next.shared |= bit(node);
      if (node == head && full_) out.move(next, kNobody, "a shared one comes");
    }
    if (!was_made(s, head)) return;
    State next = s;
    change(next, of(made, ours));
    next.seen = next.length;
    out.move(next, kContender, "creates its node, through A");
    next.reads = 1;
    if (!s.closed && !s.shared) out.move(next, kContender, "creates its node, through A, and will read");
    next.reads = 0;
    next.server = b;
    next.at_b = next.length;
    out.move(next, kContender, "creates its node, through B");
  }

  void line_steps(const State& s, Steps<State>& out) const {
    for (const Node node : {head, middle}) {
      if (!(now(s) & bit(node))) continue;
      State next = s;
      change(next, of(gone, node));
      out.move(next, kNobody, node == head ? "the first goes" : "the one in the middle goes");
    }
    for (const Node node : {behind, middle}) {
      if (was_made(s, node) || (node == middle && mutant_ != Mutant::number_below)) continue;
      State next = s;
      change(next, of(made, node));
      out.chance(next, kNobody, node == behind ? "another one comes" : "another one comes, with a lower number");
    }
  }

  static void outsider_steps(State next, Steps<State>& out) {
    const State s = next;
    if (next.faults == 0) return;
    --next.faults;
    for (const Node node : {head, middle, ours}) {
      if (!(now(s) & bit(node))) continue;
      State wrote = next;
      change(wrote, of(written, node));
      out.chance(wrote, kNobody, node == ours ? "somebody writes to its node" : "somebody writes to one before it");
    }
    if (!(now(s) & bit(ours)) || s.had_turn) return;
    change(next, of(gone, ours));
    out.chance(next, kNobody, "somebody deletes its node");
  }

  static void server_steps(const State& s, Steps<State>& out) {
    if (s.at_b == s.length) return;
    State next = s;
    if (next.server == b) tell(next, next.log[next.at_b]);
    ++next.at_b;
    out.move(next, kNobody, "B gets a change");
  }

  // While its last proof is good, its session does not expire. When that is over, its command is dead.
  static void session_steps(const State& s, Steps<State>& out) {
    State next = s;
    if (s.faults > 0) {
      --next.faults;
      if (s.proved) {
        next.proved = 0;
        if (is_turn(s)) next.phase = left;
        out.chance(next, kContender, "its last proof is too old");
      } else if (s.alive) {
        next.alive = 0;
        if (now(next) & bit(ours)) change(next, of(gone, ours));
        out.chance(next, kContender, "its session expires");
      }
    }
    if (s.alive) return;
    next = s;
    next.phase = left;
    out.move(next, kContender, "hears that its session is over");
  }

  static void end(State next, Steps<State>& out) {
    next.phase = left;
    if (now(next) & bit(ours)) change(next, of(gone, ours));
    out.move(next, kContender, "its command ends, and it deletes its node");
  }

  static bool is_turn(const State& s) { return s.phase == holding || s.phase == reading; }
  static Phase turn_of(const State& s) { return s.reads ? reading : holding; }

  static uint8_t position(const State& s) { return s.server == a ? s.length : s.at_b; }

  // The connection breaks: what was on its way is lost.
  void lose(State next, Steps<State>& out) const {
    if (next.faults == 0) return;
    --next.faults;
    next.server = nowhere;
    next.queue.fill(0), next.at.fill(0);
    next.queued = next.kept = 0;
    if (mutant_ != Mutant::any_connection) next.here = 0;
    if (next.phase == watching) next.watch = 0;
    if (next.own == asked) next.own = next.own_fired = 0;
    if (next.phase != waiting && next.phase != reading) next.phase = looking;
    out.chance(next, kContender, "the connection breaks");
  }

  // The library sets those watches again that have not fired (SetWatches).
  static void connect(const State& s, Steps<State>& out) {
    for (const uint8_t server : {a, b}) {
      if (server == b && s.at_b < s.seen) continue;
      for (const bool own_first : {true, false}) {
        State next = s;
        next.server = server;
        if (own_first) set_own_again(next);
        if (next.watch && !next.watch_fired) set_watch_again(next);
        if (!own_first) set_own_again(next);
        out.move(next, kContender, server == a ? "connects to A" : "connects to B");
      }
    }
  }
  static void set_own_again(State& s) {
    if (s.own && !s.own_fired) set_again(s, ours);
  }
  static void set_watch_again(State& s) {
    if (!s.watches_line) return set_again(s, s.watched);
    for (uint8_t i = s.seen; i < position(s); ++i) {
      if (kind_in(s.log[i]) != written) return send(s, of(saw_line));
    }
    s.kept |= kOfLine;
  }
  static void set_again(State& s, uint8_t node) {
    if (!(there(s, position(s)) & bit(node))) return send(s, of(saw_gone, node));
    for (uint8_t i = s.seen; i < position(s); ++i) {
      if (s.log[i] == of(written, node)) return send(s, of(saw_written, node));
    }
    s.kept |= bit(node);
  }

  void client_steps(const State& s, Steps<State>& out) const {
    State next = s;
    switch (static_cast<Phase>(s.phase)) {
      case looking: return look_again(s, out);
      case confirming: return confirm(s, out);
      case to_watch: return watch(s, out);
      case waiting:
        next.phase = looking;
        if (!is_watched(s)) return out.move(next, kContender, "is woken");
        if (full_) out.chance(next, kContender, "looks though nothing has woken it");
        return;
      case reading:
        next.read_old = there(s, position(s)) & kBefore ? 1 : 0;
        next.phase = holding;
        return out.move(next, kContender, "reads what the one before it has written");
      case listing:
      case watching:
      case holding:
      case left: return;
    }
  }

  // Lock::is_watched.
  static bool is_watched(const State& s) {
    return s.watch && !s.watch_fired && s.own && !s.own_fired && (s.watched == nearest(s.before));
  }
  static uint8_t nearest(uint8_t before) { return before & bit(middle) ? middle : head; }

  // Lock::is_next.
  bool is_next(const State& s) const {
    const bool one = std::popcount(s.before) == 1 || mutant_ == Mutant::two_before;
    const bool its = s.watch && s.watched == nearest(s.before) && (!s.watches_line || mutant_ == Mutant::line_event);
    const bool event = s.watch_gone || (s.watch_fired && (mutant_ == Mutant::any_event || s.watches_line));
    const bool undisturbed = s.own && (!s.own_fired || mutant_ == Mutant::own_fired);
    const bool reads = s.reads && mutant_ != Mutant::old_read;
    return one && its && event && undisturbed && s.here && !reads && (s.proved || mutant_ == Mutant::old_proof);
  }

  // Lock::look_again, ProtectedNode::look_again.
  void look_again(const State& s, Steps<State>& out) const {
    State next = s;
    next.phase = is_next(s) ? turn_of(s) : s.proved ? listing : confirming;
    if (is_turn(next)) return out.move(next, kContender, "the only one before it is gone, and it holds");
    if (next.phase == confirming) return out.move(next, kContender, "wants a new proof");
    send(next, of(listed, there(s, position(s))), position(s));
    out.move(next, kContender, "asks for a list");
  }

  // ProtectedNode::confirm. A check is a transaction, which B answers when it has all that was before it.
  static void confirm(const State& s, Steps<State>& out) {
    if (position(s) < s.length) return;
    State next = s;
    const bool good = s.alive && (now(s) & bit(ours));
    next.proved = good ? 1 : 0;
    next.phase = listing;
    send(next, good ? of(listed, now(s)) : of(refused), position(s));
    out.move(next, kContender, "asks for a check and a list");
  }

  // Lock::watch and watch_line: reads both nodes. One that U may not read is looked at, and the line is watched.
  static void watch(State s, Steps<State>& out) {
    s.phase = is_watched(s) ? waiting : watching;
    if (s.phase == waiting) return out.move(s, kContender, "waits on");
    const uint8_t found = there(s, position(s));
    s.watch = 1;
    s.watch_fired = s.watch_gone = s.watches_line = 0;
    s.watched = nearest(s.before);
    if (found & s.closed & bit(s.watched)) s.watches_line = 1;
    const bool asks_own = !s.own || s.own_fired;
    if (asks_own) s.own = asked, s.own_fired = 0;
    const uint8_t own = asks_own ? found & bit(ours) : 0;
    const uint8_t one = found & bit(s.watched);
    s.kept |= static_cast<uint8_t>((s.watches_line ? kOfLine : one) | own);
    send(s, of(watched_both, static_cast<uint8_t>(one | (asks_own ? own : bit(ours)))), position(s));
    out.move(s, kContender, "asks for its watches");
  }

  // Takes the next message.
  void take(const State& s, Steps<State>& out) const {
    State next = s;
    const uint8_t message = s.queue[0];
    const uint8_t part = part_in(message);
    const uint8_t at = s.at[0];
    std::shift_left(next.queue.begin(), next.queue.end(), 1);
    std::shift_left(next.at.begin(), next.at.end(), 1);
    --next.queued;
    next.queue[next.queued] = next.at[next.queued] = 0;
    switch (kind_in(message)) {
      case saw_gone:
      case saw_written:
        fire(next, part, kind_in(message) == saw_gone);
        return out.move(next, kContender, "gets an event");
      case saw_line:
        next.watch_fired |= next.watch & next.watches_line;
        return out.move(next, kContender, "gets an event of the line");
      case refused: next.phase = left; return out.move(next, kContender, "is told that its node is gone");
      case watched_both:
        next.seen = std::max(next.seen, at);
        take_watches(next, part);
        return out.move(next, kContender, next.phase == waiting ? "waits" : "has not both watches");
      default: break;
    }
    next.seen = std::max(next.seen, at);
    look(next, part, out);
  }

  static void fire(State& s, uint8_t node, bool is_gone) {
    if (node == ours && s.own) s.own_fired = 1;
    if (node == ours || node != s.watched || s.watches_line || !s.watch) return;
    s.watch_fired = 1;
    s.watch_gone = is_gone ? 1 : 0;
  }

  static void take_watches(State& s, uint8_t found) {
    if (!(found & bit(ours))) s.own = s.own_fired = 0;
    if (s.own) s.own = set;
    s.watch = s.own && (found & bit(s.watched)) ? 1 : 0;
    s.phase = s.watch ? waiting : looking;
  }

  // Lock::look.
  static void look(State next, uint8_t names, Steps<State>& out) {
    next.here = 1;
    next.before = names & kBefore;
    if (!(names & bit(ours))) {
      next.phase = left;
      return out.move(next, kContender, "sees that its node is gone");
    }
    next.phase = next.before ? to_watch : next.proved ? turn_of(next) : confirming;
    out.move(next, kContender, next.before ? "sees others before it" : "sees none before it");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::handover

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::handover::Handover>("handover", argc, argv);
}
