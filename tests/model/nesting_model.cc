// SPDX-License-Identifier: Apache-2.0
// A lock inside the same lock, and a stranger behind it: src/host/process/mark.cc, src/command/child/nesting.cc,
// attended_command.cc, src/recipe/lock/lock_set.cc. A is the outer zklock, B the inner one, which its command left in
// the background, C the stranger. The marks are files that a process holds open. Each of A and B does two things, in an
// order that the other relies on: B marks itself, then looks whether A is open; A closes, then looks for marks.
//
// Across users the marks cannot be seen by all. The model's answer: what hides is nested unless it stands in line by
// itself, with its pid on its node; and that the outer one has closed can be seen by everybody.
//
// That the outer one loses its lock is not here: then all below it is killed. The inner one may be killed; then its
// guard kills what it ran, and has the mark until that is reaped.
#include "run.h"

#include <array>

namespace zklock::model::nesting {
namespace {

enum OuterPhase : uint8_t { holding, closing, looking, releasing, outer_over };
enum InnerPhase : uint8_t { to_come, marking, asking, nested, dying, declined, in_line, has_lock, inner_over };
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
    mark_dies_first
  };
  static constexpr std::array kMutants = {"the inner one asks before it marks itself",
                                          "the outer one looks before it closes",
                                          "the outer one looks for marks only while it is open",
                                          "the inner one keeps its mark while it stands in line",
                                          "who may not be looked into is not nested",
                                          "who may not be looked into is nested, even if it stands in line",
                                          "an outer one that may not be looked into is open",
                                          "the mark of an inner one that is killed goes before its command"};
  struct State {
    uint8_t outer, inner, stranger;
    uint8_t locked;  // somebody has the lock by a node of his own
    uint8_t open, mark;
    uint8_t hidden;  // the inner one is another user's: its open files cannot be looked at
    uint8_t blind;   // nor can it look at those of the outer one
  };

  Nesting(Size, Mutant mutant) : mutant_(mutant) {}

  State first() const {
    State s{};
    s.locked = s.open = 1;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    const bool inside = s.inner == nested || s.inner == has_lock || s.inner == dying;
    return inside && s.stranger == running ? "two run at once" : nullptr;
  }
  bool is_settled(const State& s) const {
    return s.outer == outer_over && s.inner == inner_over && s.stranger == stranger_over && !s.locked;
  }

  void steps(const State& s, Steps<State>& out) const {
    outer_steps(s, out);
    inner_steps(s, out);
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

  // NestingMarks::is_nested. Who stands in line by himself has a node there with his pid on it.
  bool seems_nested(const State& s) const {
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
        return out.move(s, 1, s.inner == declined ? "finds the outer one closed" : "finds the outer one open");
      case nested: kill_inner(s, out); [[fallthrough]];
      case dying:
        s.mark = 0;
        s.inner = inner_over;
        return out.move(s, 1, "ends, and all that it ran");
      case declined:  // Nesting::settle, Lock::acquire
        if (mutant_ != Mutant::mark_kept) s.mark = 0;
        s.inner = in_line;
        return out.move(s, 1, "stands in line");
      case in_line:
      case has_lock: return take_and_release(s, s.inner, 1, out);
      case inner_over: return;
    }
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

  // Its phase, and the two that follow it.
  static void take_and_release(State& s, uint8_t& phase, size_t who, Steps<State>& out) {
    const bool waits = phase == (who == 1 ? uint8_t{in_line} : uint8_t{waiting});
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
