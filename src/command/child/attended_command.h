// SPDX-License-Identifier: Apache-2.0
// Attends to the command that zklock runs, from its start to its exit status. Signals to zklock are passed on to the
// command, and Ctrl-Z does not stop it. If a signal asks zklock to end, the command's remaining processes are ended
// too. Under a lease, all of it is ended when the lock is lost or can no longer be proved; zklock's own status is then
// 76. After the command's end, zklock holds the lock until CommandTerms::hold_until, and as long as the command has
// left a zklock running that uses the same lock.
#pragma once

#include "command/child/console.h"
#include "host/process/guard.h"
#include "host/process/mark.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// Reports, for people, what a guard could not do to its command. Each trouble is reported once.
class GuardTrouble {
 public:
  // `command`: how messages call the guard's command, "the command".
  GuardTrouble(host::Guard& guard, std::string command) : guard_(guard), command_(std::move(command)) {}

  // Writes to standard error. Call it at every turn of the loop.
  void report();

 private:
  host::Guard& guard_;
  std::string command_;
  pid_t named_stubborn_ = 0;
};

// Returns the end of a message about a loss: "SUBJECT was stopped", or how long it went on past the fence. Call it once
// nothing of the command is left.
std::string end_of(const std::string& subject, Duration overrun);

// Returns the exit status for what waitpid reported: the command's own, or 128 + its signal. Throws a Failure for a
// signal by which people and shells end programs, so that zklock dies of it too.
int status_of_command(int wait_status);

// How the command is ended, and how long the lock is held.
struct CommandTerms {
  std::string loss;                  // what a stopped command would lose: "its lock"
  Duration grace{};                  // from SIGTERM to SIGKILL
  recipe::Lease* lease = nullptr;    // null: only signals end the command, and the fields below do not apply
  std::vector<int64_t> tokens = {};  // of the locks that are held
  std::vector<int64_t> nested = {};  // those of `tokens` whose locks outer zklocks hold
  bool wait_all = false;             // hold the lock also for processes that the command leaves running
  Deadline hold_until = {};          // hold the lock until then, unless an ending signal comes
};

class AttendedCommand : public host::Source {
 public:
  // `signals`, `guard` and the lease must be in the loop already. From start() on, the signals go to the command.
  AttendedCommand(host::Signals& signals, host::Guard& guard, Console& console, CommandTerms terms)
      : signals_(signals), guard_(guard), console_(console), terms_(std::move(terms)) {}

  // Starts the command with `variables` added to its environment. This object must be in the loop, so that it works
  // whatever zklock waits for meanwhile. Throws what Guard::start() throws; then there is no command.
  void start(const std::vector<std::string>& variables);
  // Starts the command and turns the loop until is_over(). It replaces start(); this object must not be in the loop.
  // Starts nothing if the lock is lost already. Throws what start() and the other sources of the loop throw.
  void attend(host::Loop& loop, const std::vector<std::string>& variables);

  // Returns whether the command has ended and the lock need not be held any longer. Its remaining processes run on, but
  // none is left if the lock was lost or the command was told to end. Call the functions below only if it is over.
  bool is_over() const { return stage_ >= CommandStage::over; }
  // Returns whether the lock or the guard was lost before the command had ended by itself.
  bool lost() const { return guard_lost_ || loss_ != recipe::LeaseState::held; }
  // Returns whether that was because no quorum confirmed the lock in time.
  bool unproved() const { return loss_ == recipe::LeaseState::unproved; }
  // Returns the Failure (76) that then ends zklock. It names `what` as lost, unless the lease knows better.
  Failure loss(const std::string& what) const;
  // Returns zklock's exit status. Throws a Failure if the lock was lost, the command could not be executed, or an
  // ending signal killed it. `what` as for loss().
  int status(const std::string& what) const;
  // Returns when zklock saw that the command had ended by itself; kNever if it had not.
  Deadline ended() const { return ended_; }
  // Returns whether a signal has asked the command, or the holding of the lock, to end.
  bool ending_wanted() const { return ending_wanted_; }

  void arm(host::PollSet& set) override {
    if (!is_over()) set.wake_at(next());
  }
  void record(const host::PollSet&) override {}
  // When the command is over, throws a Failure without a text, to end whatever zklock waits for. Later calls throw
  // nothing.
  void decide() override;

 private:
  enum class CommandStage {
    idle,
    running,
    holding,    // the command has ended, the lock is still held
    finishing,  // the command is being ended
    over,
    never_started,  // the lock was lost before
  };

  Deadline next() const { return stage_ == CommandStage::holding ? terms_.hold_until : stop_.value_or(kNever); }
  Deadline fence() const { return terms_.lease ? terms_.lease->fence() : kNever; }
  bool look();
  std::string reason() const;
  void trace_end() const;
  bool running_is_over();
  void pass_on_signals();
  void continue_stopped();
  bool has_ended();
  bool hold_on();
  bool holding_is_over();
  bool is_held_on() const { return terms_.lease->proved() >= ended_; }
  void look_for_loss();
  void finish();

  host::Signals& signals_;
  host::Guard& guard_;
  Console& console_;
  CommandTerms terms_;
  GuardTrouble trouble_{guard_, "the command"};
  // The moment by which the command should have stopped after Ctrl-Z; kNever: the moment has passed. Not set if there
  // was no Ctrl-Z, or once the command has stopped.
  std::optional<Deadline> stop_;
  host::NestingMarks* nest_ = nullptr;  // null unless attend() is under way
  CommandStage stage_ = CommandStage::idle;
  bool guard_lost_ = false;
  recipe::LeaseState loss_ = recipe::LeaseState::held;  // unless the guard was lost before
  Deadline ended_ = kNever;
  bool held_on_said_ = false;
  bool ending_wanted_ = false;
};

}  // namespace zklock::command
