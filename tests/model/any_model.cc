// SPDX-License-Identifier: Apache-2.0
// A and B want one of two locks, in opposite order, C wants the second: src/recipe/lock/any_lock.cc, and how
// lock_set.cc starts again. Each lock is a line as in line_model.cc. An outsider deletes a node. The grant's age is
// left out; it is confirmed if leaving the other lines took long (lease_model.cc).
#include "nodes.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::any {
namespace {

enum Phase : uint8_t {
  making,  // Lock::enter, in one line after another
  made_lost,
  looking,
  waiting,  // AnyLock::sleep, in all lines
  leaving,  // AnyLock::leave_others
  running,
  releasing,  // AnyLock::release: all places
  left,
};

constexpr size_t kContenders = 3;
constexpr size_t kLines = 2;

struct Contender {
  uint8_t phase;
  uint8_t at;  // how many lines it has entered
  uint8_t held;
  uint8_t expired;
  uint8_t deleted;  // an outsider deleted the node that it holds, which it will notice
};

class Any {
 public:
  enum class Mutant { none, kept, forgotten, no_look, unseen, one_line, no_withdrawal };
  static constexpr std::array kMutants = {"its command runs while it stands in other lines",
                                          "a place whose delete was not answered is forgotten",
                                          "no look after a lost create",
                                          "a watch without a look",
                                          "woken by two lines, it looks at one",
                                          "one place was deleted: it starts again and keeps the others"};
  struct State {
    std::array<Nodes<6>, kLines> lines;
    std::array<Contender, kContenders> contenders;
    std::array<uint8_t, kLines> woken;  // by which line; a bit for each contender
    uint8_t losses, expiries, deletions, withdrawals, overflow;
  };

  Any(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    s.losses = full_ ? 2 : 1;
    s.expiries = full_ ? 2 : 1;
    s.deletions = s.withdrawals = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.overflow) return "more nodes than the model has room for";
    for (size_t who = 0; who < kContenders; ++who) {
      const Contender& c = s.contenders[who];
      if (c.expired) continue;
      for (size_t line = 0; line < kLines; ++line) {
        const bool of_another = c.phase == running && c.held != line;
        if (of_another && s.lines[line].count_of(who) > 0) return "its command runs while it blocks another lock";
        if (s.lines[line].count_of(who) > 1) return "it stands in a line twice, and would wait for itself";
        const bool first = s.lines[line].own(who) == 0;
        if (c.phase == running && c.held == line && !c.deleted && !first) return "it runs without its lock";
        if (c.phase == waiting && first && !is_woken(s, who, line)) return "it sleeps while a lock is free for it";
      }
    }
    return nullptr;
  }

  bool is_settled(const State& s) const {
    const auto over = [](const Contender& c) { return c.phase == left; };
    return s.lines[0].count() + s.lines[1].count() == 0 && std::all_of(s.contenders.begin(), s.contenders.end(), over);
  }

  void steps(const State& s, Steps<State>& out) const {
    for (size_t who = 0; who < kContenders; ++who) {
      session_steps(s, who, out);
      delete_by_others(s, who, out);
      if (!s.contenders[who].expired) contender_steps(s, who, out);
    }
  }

 private:
  static size_t lines_of(size_t who) { return who == 2 ? 1 : kLines; }
  static size_t line_of(size_t who, size_t at) { return who == 0 ? at : kLines - 1 - at; }
  static uint8_t bit(size_t who) { return static_cast<uint8_t>(1 << who); }
  static bool is_woken(const State& s, size_t who, size_t line) { return s.woken[line] & bit(who); }
  static void take_wake(State& s, size_t who, size_t line) { s.woken[line] &= static_cast<uint8_t>(~bit(who)); }

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

  static void end_session(State& s, size_t who, bool left_behind) {
    for (size_t line = 0; line < kLines; ++line) s.lines[line].end_session(who, left_behind, s.woken[line]);
  }

  static void session_steps(const State& s, size_t who, Steps<State>& out) {
    const Contender& c = s.contenders[who];
    State next = s;
    if (s.lines[0].any_left_behind(who) || s.lines[1].any_left_behind(who)) {
      end_session(next, who, true);
      out.move(next, who, "the session that it left behind expires");
    }
    next = s;
    if (c.expired) {
      // The command was stopped in time (lease_model.cc); a waiter starts again.
      const bool over = c.phase == running || c.phase == releasing;
      next.contenders[who] = {static_cast<uint8_t>(over ? left : making), 0, 0, 0, 0};
      return out.move(next, who, "hears that its session is over");
    }
    if (s.expiries == 0 || c.phase == left) return;
    --next.expiries;
    end_session(next, who, false);
    next.contenders[who].expired = 1;
    out.chance(next, who, "its session expires");
  }

  // A waiter learns of it by its watch, a holder by its lease.
  static void delete_by_others(const State& s, size_t who, Steps<State>& out) {
    if (s.deletions == 0 || s.contenders[who].expired) return;
    for (size_t line = 0; line < kLines; ++line) {
      if (s.lines[line].own(who) == kNoNode) continue;
      State next = s;
      --next.deletions;
      next.lines[line].remove(s.lines[line].own(who), next.woken[line]);
      next.woken[line] |= bit(who);
      Contender& c = next.contenders[who];
      c.deleted |= c.phase == running && c.held == line;
      out.chance(next, who, "somebody deletes a node of its");
    }
  }

  void contender_steps(const State& s, size_t who, Steps<State>& out) const {
    const Contender& c = s.contenders[who];
    const size_t line = line_of(who, c.at);
    const bool there = c.phase == made_lost && s.lines[line].own(who) != kNoNode;
    switch (static_cast<Phase>(c.phase)) {
      case making: return make(s, who, line, out);
      case made_lost:
        if (mutant_ == Mutant::no_look) return go(s, who, making, out, "takes the create for not done");
        return go(s, who, there ? looking : making, out, there ? "finds its node" : "finds that it has none");
      case looking: return look(s, who, line, out);
      case waiting: return wait(s, who, out);
      case leaving: return leave_others(s, who, out);
      case running: return go(s, who, releasing, out, c.deleted ? "has lost its lock" : "its command ends");
      case releasing: return release(s, who, out);
      case left: return;
    }
  }

  static void make(const State& s, size_t who, size_t line, Steps<State>& out) {
    State done = s;
    done.overflow = done.lines[line].add(who) ? 0 : 1;
    take_wake(done, who, line);
    go(done, who, looking, out, line == 0 ? "stands in line for lock 1" : "stands in line for lock 2");
    lose(s, done, who, made_lost, out);
  }

  // Lock::look; a deleted place shows itself, now or later.
  void look(const State& s, size_t who, size_t line, Steps<State>& out) const {
    State next = s;
    take_wake(next, who, line);
    if (s.lines[line].own(who) == 0) return hold(next, who, line, out);
    if (s.lines[line].own(who) == kNoNode) return go(next, who, releasing, out, "its place was deleted");
    Contender& c = next.contenders[who];
    const bool all = c.at + size_t{1} == lines_of(who);
    if (!all) {
      ++c.at;
      return go(next, who, making, out, "others are before it, goes on to the next line");
    }
    if (mutant_ == Mutant::unseen) {
      for (size_t each = 0; each < kLines; ++each) take_wake(next, who, each);
    }
    go(next, who, waiting, out, "waits in all lines");
  }

  void hold(State next, size_t who, size_t line, Steps<State>& out) const {
    next.contenders[who].held = static_cast<uint8_t>(line);
    const bool kept = mutant_ == Mutant::kept;
    go(next, who, kept ? running : leaving, out, line == 0 ? "is first for lock 1" : "is first for lock 2");
  }

  // AnyLock::look_again: looks at the lines that have woken it.
  void wait(const State& s, size_t who, Steps<State>& out) const {
    if (s.withdrawals > 0) {
      State next = s;
      --next.withdrawals;
      next.contenders[who].phase = releasing;
      out.chance(next, who, "is told to end, or its time is over");
    }
    for (size_t line = 0; line < kLines; ++line) {
      if (!is_woken(s, who, line)) continue;
      State next = s;
      take_wake(next, who, line);
      if (mutant_ == Mutant::one_line) take_wake(next, who, 1 - line);
      const uint8_t own = s.lines[line].own(who);
      if (own == 0) {
        hold(next, who, line, out);
      } else if (own != kNoNode) {
        go(next, who, waiting, out, "looks, and others are still before it");
      } else if (mutant_ == Mutant::no_withdrawal) {
        next.contenders[who] = {making, 0, 0, 0, 0};
        out.move(next, who, "its place was deleted, starts again");
      } else {
        go(next, who, releasing, out, "its place was deleted");
      }
    }
  }

  // Leaves them until that is done for certain; only then its command starts.
  void leave_others(const State& s, size_t who, Steps<State>& out) const {
    const uint8_t held = s.contenders[who].held;
    const size_t other = 1 - size_t{held};
    if (s.lines[other].own(who) == kNoNode) {
      const bool there = s.lines[held].own(who) == 0;
      return go(s, who, there ? running : releasing, out, there ? "its command runs" : "what it held was deleted");
    }
    State done = s;
    done.lines[other].remove(s.lines[other].own(who), done.woken[other]);
    go(done, who, leaving, out, "leaves the other line");
    lose(s, done, who, mutant_ == Mutant::forgotten ? running : leaving, out);
    give_up(s, who, out);
  }

  void release(const State& s, size_t who, Steps<State>& out) const {
    for (size_t line = 0; line < kLines; ++line) {
      if (s.lines[line].own(who) == kNoNode) continue;
      State done = s;
      done.lines[line].remove(s.lines[line].own(who), done.woken[line]);
      go(done, who, releasing, out, "deletes one of its places");
      lose(s, done, who, releasing, out);
      return give_up(s, who, out);
    }
    go(s, who, left, out, "has nothing left");
  }

  static void give_up(State next, size_t who, Steps<State>& out) {
    for (auto& line : next.lines) line.leave_session(who);
    next.contenders[who] = {left, 0, 0, 0, 0};
    out.chance(next, who, "has no time left and ends");
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::any

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::any::Any>("any", argc, argv);
}
