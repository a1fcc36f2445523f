// SPDX-License-Identifier: Apache-2.0
// The end of a run under a lock, whose node an outsider may delete at any moment: src/command/lock/job.cc (run_under),
// attended_command.cc (hold_on), src/recipe/lock/protected_node.cc (remove). The status is the command's only if the
// node was there until the command had ended. If the answer to our delete is lost, it is unknown whose delete was
// first. The end of the session is in the flight of the delete (zk::Session::end_behind), so a connection may be lost
// before both, between them or after both. A leader calls a session over before a quorum knows it, so that is no proof
// that the node is gone, but then the node goes with the session.
#include "run.h"

#include <array>

namespace zklock::model::give_back {
namespace {

enum Phase : uint8_t { running, frozen, ended, holding_on, deleting, over };
enum Status : uint8_t { none, of_command, lost };

class GiveBack {
 public:
  enum class Mutant { none, gone_is_fine, ours_is_theirs, old_proof, over_is_lost, refused_is_over };
  static constexpr std::array kMutants = {"a node that is gone at the end was held until then",
                                          "what our own delete has removed was deleted by somebody else",
                                          "a proof from before the command's end is good enough",
                                          "a session that is over has lost its lock to somebody",
                                          "a session whose end was refused is over"};
  struct State {
    uint8_t phase, status;
    uint8_t node;            // it is there
    uint8_t early;           // an outsider deleted it before the command had ended
    uint8_t late;            // an outsider deleted it afterwards
    uint8_t proved;          // a heartbeat had a good answer
    uint8_t proved_at_end;   // so had one that was sent after the command's end (--min-hold)
    uint8_t sent, doubtful;  // our delete is sent; its answer was lost
    uint8_t session_over;    // the servers have carried out its end, or let it expire now
    uint8_t losses;
  };

  GiveBack(Size size, Mutant mutant) : most_losses_(size == Size::full ? 3 : 1), mutant_(mutant) {}

  State first() const {
    State s{};
    s.node = 1;
    s.losses = most_losses_;
    return s;
  }
  void tidy(State&) const {}

  const char* fault(const State& s) const {
    if (s.status == of_command && s.early && !s.doubtful)
      return "a lock that was lost while the command ran, and no word";
    if (s.status == lost && !s.early && !s.late) return "said to be lost, and nobody had deleted it";
    if (s.status == lost && !s.early && s.proved_at_end)
      return "said to be lost, and was proved after the command's end";
    if (s.phase == over && s.status == of_command && s.node && !s.session_over)
      return "it has left its node, and its session lives";
    return nullptr;
  }
  bool is_settled(const State& s) const { return s.phase == over; }

  void steps(const State& s, Steps<State>& out) const {
    somebody_deletes(s, out);
    zklock_steps(s, out);
  }

 private:
  static void somebody_deletes(State s, Steps<State>& out) {
    if (!s.node || s.phase == over) return;
    s.node = 0;
    (s.phase == running || s.phase == frozen ? s.early : s.late) = 1;
    out.chance(s, 1, "deletes the node");
  }

  void zklock_steps(State s, Steps<State>& out) const {
    switch (static_cast<Phase>(s.phase)) {
      case running:
        beat(s, out);
        s.phase = frozen;
        out.chance(s, 0, "is frozen");
        s.phase = ended;
        return out.move(s, 0, "its command ends");
      case frozen: s.phase = ended; return out.move(s, 0, "wakes up when the command has ended");
      case ended:  // AttendedCommand::hold_on; with --min-hold or without
        s.phase = deleting;
        out.move(s, 0, "gives the lock back");
        s.phase = holding_on;
        return out.move(s, 0, "holds the lock on");
      case holding_on:
        beat(s, out);
        s.phase = deleting;
        return out.move(s, 0, "gives the lock back after --min-hold");
      case deleting: return remove(s, out);
      case over: return;
    }
  }

  // Lease: "it was deleted" ends the command while it runs, and afterwards the time for which the lock is still held.
  static void beat(State s, Steps<State>& out) {
    if (s.node && s.phase == running) {
      s.proved = 1;
      return out.move(s, 0, "is told that it has the lock");
    }
    if (s.node) {
      s.proved_at_end = 1;
      return out.move(s, 0, "is told that it has the lock still");
    }
    s.phase = s.phase == running ? over : deleting;
    if (s.phase == over) s.status = lost;
    out.move(s, 0, "is told that the node was deleted");
  }

  // ProtectedNode::remove, and its result in Job::run_under.
  void remove(State s, Steps<State>& out) const {
    if (s.session_over) return find_it_over(s, out);
    const bool first = !s.sent;
    const bool gone = !s.node;
    s.sent = 1;
    if (s.losses > 0) lose_answers(s, out);
    s.node = 0;
    const bool deleted = gone && (first || mutant_ == Mutant::ours_is_theirs);
    const bool proved = s.proved_at_end || (mutant_ == Mutant::old_proof && s.proved);
    s.status = deleted && !proved && mutant_ != Mutant::gone_is_fine ? lost : of_command;
    s.phase = over;
    out.move(s, 0, s.status == lost ? "finds the node deleted" : "ends with the command's status");
  }

  // The delete and the end are sent, and the connection is lost.
  void lose_answers(State s, Steps<State>& out) const {
    --s.losses;
    s.doubtful = 1;
    out.chance(s, 0, "sends both, and neither arrives");
    State refused = s;
    if (mutant_ == Mutant::refused_is_over) {
      refused.phase = over;
      refused.status = of_command;
    }
    out.chance(refused, 0, "sends both, and both are refused");
    State expiring = s;
    expiring.session_over = 1;
    out.chance(expiring, 0, "sends both, and the leader calls the session over, and dies");
    s.node = 0;
    out.chance(s, 0, "sends both, and the delete arrives");
    s.session_over = 1;
    out.chance(s, 0, "sends both, and the answers are lost");
  }

  void find_it_over(State s, Steps<State>& out) const {
    s.status = mutant_ == Mutant::over_is_lost ? lost : of_command;
    s.phase = over;
    out.move(s, 0, "is told that its session is over");
  }

  uint8_t most_losses_;
  Mutant mutant_;
};

}  // namespace
}  // namespace zklock::model::give_back

int main(int argc, char** argv) {
  return zklock::model::run_model<zklock::model::give_back::GiveBack>("give_back", argc, argv);
}
