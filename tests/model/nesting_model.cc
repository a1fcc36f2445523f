// SPDX-License-Identifier: Apache-2.0
// A lock inside the same lock, and a stranger waiting for it: src/host/process/mark.cc, src/command/child/nesting.cc,
// attended_command.cc, src/recipe/lock/lock_set.cc. A is the outer zklock, B the inner one, which A's command left in
// the background, C the stranger, D one that B's command runs or leaves. The marks are files that a process holds open.
// A and B each do two things, in an order that the other relies on: B marks itself, then checks whether A is open; A
// closes, then looks for marks. D does as B does, and checks B and A. If A has closed, B may still be open, and A waits
// for B.
//
// Marks of another user cannot always be seen. The model's answer: a hidden zklock is nested unless it waits in line by
// itself, with its pid on its node. That the outer one has closed is visible to all.
//
// The outer one never loses its lock here: then all below it is killed. The inner one may be killed; then its guard
// kills what it ran, and keeps the mark until that is reaped.
#include "run.h"

#include <array>

namespace zklock::model::nesting {
namespace {

enum OuterPhase : uint8_t { holding, closing, looking, releasing, outer_over };
enum InnerPhase : uint8_t { to_come, marking, asking, nested, ending, dying, declined, in_line, has_lock, inner_over };
enum StrangerPhase : uint8_t { waiting, running, stranger_over };

class Nesting {
 public:
  enum class Mutant {
    none,
    asks_first,
    looks_first,
    looks_once,
    mark_kept,
    hidden_is_none,
    hidden_is_nested,
    blind_is_open,
    mark_dies_first,
    asks_the_first_only
  };
  static constexpr std::array kMutants = {"the inner one asks before it marks itself",
                                          "the outer one looks before it closes",
                                          "the outer one looks for marks only while it is open",
                                          "the inner one keeps its mark while it stands in line",
                                          "who may not be looked into is not nested",
                                          "who may not be looked into is nested, even if it stands in line",
                                          "an outer one that may not be looked into is open",
                                          "the mark of an inner one that is killed goes before its command",
                                          "whoever is nested in an inner one asks only the outer one"};
  struct State {
    uint8_t outer, inner, stranger;
    uint8_t locked;  // the lock is held by a node of B's, C's or D's own
    uint8_t open, mark;
    uint8_t hidden;  // another user runs the inner one: its open files cannot be seen
    uint8_t blind;   // it cannot see those of the outer one either
    // D: an InnerPhase; whether B is open for it; its mark; and whether B's command does not wait for it.
    uint8_t third, inner_open, third_mark, left;
  };

  Nesting(Size, Mutant mutant) : mutant_(mutant) {}

  State first() const {
    State s{};
    s.locked = s.open = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    const auto is_inside = [](uint8_t phase) { return phase == nested || phase == has_lock || phase == dying; };
    return (is_inside(s.inner) || s.inner == ending || is_inside(s.third)) && s.stranger == running ? "two run at once"
                                                                                                    : nullptr;
  }
  bool is_settled(const State& s) const {
    const bool third_over = s.third == to_come || s.third == inner_over;
    return s.outer == outer_over && s.inner == inner_over && third_over && s.stranger == stranger_over && !s.locked;
  }

  void steps(const State& s, Steps<State>& out) const {
    outer_steps(s, out);
    inner_steps(s, out);
    third_steps(s, out);
    stranger_steps(s, out);
  }

 private:
  // AttendedCommand::has_ended, NestingMarks::close_and_look.
  void outer_steps(State s, Steps<State>& out) const {
    switch (static_cast<OuterPhase>(s.outer)) {
      case holding:
        s.outer = mutant_ == Mutant::looks_first || mutant_ == Mutant::looks_once ? looking : closing;
        return out.move(s, 0, "its command ends");
      case closing:
        s.open = 0;
        s.outer = mutant_ == Mutant::looks_first ? releasing : looking;
        return out.move(s, 0, "closes");
      case looking:
        if (seems_nested(s)) return;
        s.outer = mutant_ == Mutant::looks_first ? closing : releasing;
        return out.move(s, 0, "sees nobody nested");
      case releasing:
        s.outer = outer_over;
        s.locked = s.open = 0;
        return out.move(s, 0, "gives the lock back");
      case outer_over: return;
    }
  }

  // NestingMarks::is_nested. A zklock that waits in line by itself has a node there with its pid on it.
  bool seems_nested(const State& s) const {
    if (s.third_mark) return true;
    if (!s.hidden) return s.mark;
    if (mutant_ == Mutant::hidden_is_none) return false;
    const bool lives = s.inner != to_come && s.inner != inner_over;
    return lives && (s.inner != in_line || mutant_ == Mutant::hidden_is_nested);
  }

  // host::is_open_for_nesting.
  bool seems_open(const State& s) const { return s.open || (s.blind && mutant_ == Mutant::blind_is_open); }

  void inner_steps(State s, Steps<State>& out) const {
    const bool asks_first = mutant_ == Mutant::asks_first;
    switch (static_cast<InnerPhase>(s.inner)) {
      case to_come: return start(s, out);
      case marking:  // Nesting::Nesting
        s.mark = 1;
        s.inner = asks_first ? nested : asking;
        return out.move(s, 1, "marks itself");
      case asking:  // Nesting::find_outer: its node, then whether it is open
        s.inner = !seems_open(s) || s.outer == outer_over ? declined : asks_first ? marking : nested;
        s.inner_open = s.inner == nested;
        return out.move(s, 1, s.inner == declined ? "finds the outer one closed" : "finds the outer one open");
      case nested:
        kill_inner(s, out);
        if (s.third != to_come && s.third != inner_over && !s.left) return;
        s.inner_open = 0;
        s.inner = ending;
        return out.move(s, 1, "closes, as its command has ended");
      case ending:
        kill_inner(s, out);
        if (s.third_mark) return;
        return end_inner(s, out);
      case dying:
        if (s.third == has_lock) s.locked = 0;
        s.third_mark = 0;
        if (s.third != to_come) s.third = inner_over;
        return end_inner(s, out);
      case declined:  // Nesting::settle, Lock::acquire
        if (mutant_ != Mutant::mark_kept) s.mark = 0;
        s.inner = in_line;
        return out.move(s, 1, "stands in line");
      case in_line:
      case has_lock: return take_and_release(s, s.inner, 1, out);
      case inner_over: return;
    }
  }

  static void end_inner(State s, Steps<State>& out) {
    s.mark = s.inner_open = 0;
    s.inner = inner_over;
    out.move(s, 1, "ends, and all that it ran");
  }

  void kill_inner(State s, Steps<State>& out) const {
    s.inner = dying;
    if (mutant_ == Mutant::mark_dies_first) s.mark = 0;
    out.chance(s, 1, "is killed, and its guard begins to kill");
  }

  void start(State s, Steps<State>& out) const {
    s.inner = mutant_ == Mutant::asks_first ? asking : marking;
    out.move(s, 1, "starts");
    s.hidden = 1;
    out.move(s, 1, "starts as root");
    s.blind = 1;
    out.move(s, 1, "starts as another user");
  }

  // D may come as long as B's command runs.
  void third_steps(State s, Steps<State>& out) const {
    switch (static_cast<InnerPhase>(s.third)) {
      case to_come:
        if (s.inner != nested) return;
        s.third = marking;
        out.chance(s, 3, "starts, and is waited for");
        s.left = 1;
        return out.chance(s, 3, "starts, and is left in the background");
      case marking:
        s.third_mark = 1;
        s.third = asking;
        return out.move(s, 3, "marks itself");
      case asking: {
        const bool open = s.inner_open && mutant_ != Mutant::asks_the_first_only;
        s.third = open || (seems_open(s) && s.outer != outer_over) ? nested : declined;
        return out.move(s, 3, s.third == declined ? "finds both closed" : "finds one of the two open");
      }
      case declined:
        s.third_mark = 0;
        s.third = in_line;
        return out.move(s, 3, "stands in line");
      case in_line:
      case has_lock: return take_and_release(s, s.third, 3, out);
      case nested:
        s.third_mark = 0;
        s.third = inner_over;
        return out.move(s, 3, "ends");
      default: return;
    }
  }

  // Takes its phase, and the two that follow.
  static void take_and_release(State& s, uint8_t& phase, size_t who, Steps<State>& out) {
    const bool waits = phase == (who == 2 ? uint8_t{waiting} : uint8_t{in_line});
    if (waits && s.locked) return;
    ++phase;
    s.locked = waits ? 1 : 0;
    out.move(s, who, waits ? "has the lock" : "gives its lock back");
  }

  static void stranger_steps(State s, Steps<State>& out) {
    if (s.stranger != stranger_over) take_and_release(s, s.stranger, 2, out);
  }

  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::nesting

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::nesting::Nesting>("nesting", argc, argv);
}
