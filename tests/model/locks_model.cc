// SPDX-License-Identifier: Apache-2.0
// A and B want the same two locks, C only the second: src/recipe/lock/lock_set.cc. The locks are taken in the order of
// their names' bytes (src/command/lock/run.cc sorts them). Each is a line as in line_model.cc.
#include "nodes.h"
#include "run.h"

#include <algorithm>
#include <array>

namespace zklock::model::locks {
namespace {

enum Phase : uint8_t {
  making,  // LockSet::acquire_next, Lock::acquire
  made_lost,
  looking,
  waiting,
  running,
  releasing,  // LockSet::release, the last one first
  left,
};

constexpr size_t kContenders = 3;

struct Contender {
  uint8_t phase;
  uint8_t at;  // the first or the second lock that it takes; or how many are left to release
  uint8_t expired;
  uint8_t again;  // after the release
};

class Locks {
 public:
  enum class Mutant { none, unordered, kept, same_session, forgotten };
  static constexpr std::array kMutants = {
      "the locks are taken in any order", "after an expiry only the lock that it waited for is taken again",
      "it starts again without letting go", "it starts again in the session of a delete that was not answered"};
  struct State {
    std::array<Nodes<6>, 2> lines;
    std::array<Contender, kContenders> contenders;
    uint8_t woken;  // a bit for each
    uint8_t losses, expiries, disturbances, overflow;
  };

  Locks(Size size, Mutant mutant) : full_(size == Size::full), mutant_(mutant) {}

  State first() const {
    State s{};
    for (size_t who = 0; who < kContenders; ++who) s.contenders[who].at = first_lock(who);
    s.losses = full_ ? 3 : 1;
    s.expiries = full_ ? 2 : 1;
    s.disturbances = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.overflow) return "more nodes than the model has room for";
    for (size_t who = 0; who < kContenders; ++who) {
      const Contender& c = s.contenders[who];
      if (c.expired) continue;
      const bool all = (first_lock(who) == 1 || is_first(s, who, 0)) && is_first(s, who, 1);
      if (c.phase == running && !all) return "it runs without all its locks";
      const Nodes<6>& line = s.lines[lock_of(who, c.at)];
      const uint8_t own = c.phase == waiting ? line.own(who) : kNoNode;
      if (own == kNoNode || own == 0) continue;
      if (line.is_of_session(static_cast<uint8_t>(own - 1), who)) return "it waits for itself";
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
      if (!s.contenders[who].expired) contender_steps(s, who, out);
    }
  }

 private:
  static uint8_t first_lock(size_t who) { return who == 2 ? 1 : 0; }
  size_t lock_of(size_t who, size_t at) const { return (mutant_ == Mutant::unordered && who == 1) ? 1 - at : at; }
  static bool is_first(const State& s, size_t who, size_t lock) { return s.lines[lock].own(who) == 0; }
  static uint8_t bit(size_t who) { return static_cast<uint8_t>(1 << who); }

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

  void session_steps(const State& s, size_t who, Steps<State>& out) const {
    const Contender& c = s.contenders[who];
    State next = s;
    for (auto& line : next.lines) {
      if (line.any_left_behind(who)) line.end_session(who, true, next.woken);
    }
    if (next.lines[0].count() + next.lines[1].count() != s.lines[0].count() + s.lines[1].count()) {
      out.move(next, who, "the session that it left behind expires");
    }
    next = s;
    if (c.expired) return learn_of_expiry(next, who, out);
    if (s.expiries == 0 || c.phase == left) return;
    --next.expiries;
    for (auto& line : next.lines) line.end_session(who, false, next.woken);
    next.contenders[who].expired = 1;
    out.chance(next, who, "its session expires");
  }

  // The command was stopped in time (lease_model.cc); a waiter starts again, with the first lock.
  void learn_of_expiry(State next, size_t who, Steps<State>& out) const {
    Contender& c = next.contenders[who];
    const bool over = c.phase == running || (c.phase == releasing && !c.again);
    const uint8_t at = mutant_ == Mutant::kept && c.phase == waiting ? c.at : first_lock(who);
    c = {static_cast<uint8_t>(over ? left : making), at, 0, 0};
    out.move(next, who, "hears that its session is over");
  }

  void contender_steps(const State& s, size_t who, Steps<State>& out) const {
    const Contender& c = s.contenders[who];
    const size_t lock = lock_of(who, c.at);
    const bool there = s.lines[lock].own(who) != kNoNode;
    switch (static_cast<Phase>(c.phase)) {
      case making: return make(s, who, lock, out);
      case made_lost:
        return go(s, who, there ? looking : making, out, there ? "finds its node" : "finds that it has none");
      case looking:
      case waiting: return look(s, who, lock, out);
      case running: return release_all(s, who, "its command ends", out);
      case releasing: return release(s, who, lock, out);
      case left: return;
    }
  }

  static void make(const State& s, size_t who, size_t lock, Steps<State>& out) {
    State done = s;
    done.overflow = done.lines[lock].add(who) ? 0 : 1;
    go(done, who, looking, out, lock == 0 ? "stands in line for lock 1" : "stands in line for lock 2");
    lose(s, done, who, made_lost, out);
  }

  // Lock::look; LockSet::acquire is done once all locks are held.
  void look(const State& s, size_t who, size_t lock, Steps<State>& out) const {
    const bool waits = s.contenders[who].phase == waiting;
    if (waits) disturb(s, who, out);
    if (waits && !(s.woken & bit(who))) return;
    State next = s;
    next.woken &= static_cast<uint8_t>(~bit(who));
    if (!is_first(s, who, lock)) return go(next, who, waiting, out, "waits for the one before it");
    Contender& c = next.contenders[who];
    if (c.at == 1) return go(next, who, running, out, "has all its locks, its command runs");
    c.at = 1;
    go(next, who, making, out, "has its first lock");
  }

  // WaitPolicy::disturbed: a lock that it already has must be given up. LockSet releases all, and starts again.
  void disturb(State next, size_t who, Steps<State>& out) const {
    if (next.disturbances == 0) return;
    --next.disturbances;
    Contender& c = next.contenders[who];
    c.at = mutant_ == Mutant::same_session ? first_lock(who) : uint8_t{1};
    c.again = mutant_ == Mutant::same_session ? 0 : 1;
    c.phase = mutant_ == Mutant::same_session ? making : releasing;
    out.chance(next, who, "is disturbed, and starts again");
  }

  static void release_all(State next, size_t who, const char* what, Steps<State>& out) {
    next.contenders[who].at = 1;
    go(next, who, releasing, out, what);
  }

  void release(const State& s, size_t who, size_t lock, Steps<State>& out) const {
    State done = s;
    done.lines[lock].remove(s.lines[lock].own(who), done.woken);
    const bool last = s.contenders[who].at == 0;
    State next = done;
    if (last) {
      end(next, who, true, "has let go of both", out);
    } else {
      next.contenders[who].at = 0;
      out.move(next, who, "lets go of one");
    }
    lose(s, done, who, releasing, out);
    end(s, who, false, "has no time left to let go", out);
  }

  // In any case the session is closed, or left behind.
  void end(State next, size_t who, bool answered, const char* what, Steps<State>& out) const {
    Contender& c = next.contenders[who];
    for (auto& line : next.lines) {
      if (mutant_ == Mutant::forgotten && c.again) {
        line.forget(who);
      } else {
        line.leave_session(who);
      }
    }
    c = {static_cast<uint8_t>(c.again ? making : left), first_lock(who), 0, 0};
    if (answered) return out.move(next, who, what);
    out.chance(next, who, what);
  }

  bool full_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::locks

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::locks::Locks>("locks", argc, argv);
}
