// SPDX-License-Identifier: Apache-2.0
// A command that zklock runs, from its start to its exit status: the signals that come to zklock are passed on to it,
// Ctrl-Z does not stop it, and if a signal had ended it, what it left behind is ended too. Under a lease all of it is
// ended when the lock is lost or can no longer be proved; zklock's own status is then 76. After its end the lock is
// held on for a zklock that it left behind under the same lock, and for a while if so wanted.
#pragma once

#include "command/child/console.h"
#include "host/process/guard.h"
#include "host/process/mark.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"

#include <string>
#include <vector>

namespace zklock::command {

// What a guard could not do to its command, for people: each trouble is said once.
class GuardTrouble {
 public:
  // `command`: what the guard's is called, "the command".
  GuardTrouble(host::Guard& guard, std::string command) : guard_(guard), command_(std::move(command)) {}

  // To be called at every turn of the loop. Writes to standard error.
  void report();

 private:
  host::Guard& guard_;
  std::string command_;
  pid_t named_stubborn_ = 0;
};

// The end of a message about a loss: "SUBJECT was stopped", or by how much that came too late. Once nothing is left.
std::string end_of(const std::string& subject, Duration overrun);

// Of what waitpid said: the exit status, or 128 + the signal. Throws a Failure for a signal by which people and shells
// end programs: zklock then dies of it too.
int status_of_command(int wait_status);

// How the command is ended, and what the lock is held for.
struct CommandTerms {
  std::string loss;                  // what a command that is stopped would lose, "its lock"
  Duration grace{};                  // between SIGTERM and SIGKILL
  recipe::Lease* lease = nullptr;    // nothing: only signals end the command, and the rest of this does not count
  std::vector<int64_t> tokens = {};  // of the locks that are held
  std::vector<int64_t> nested = {};  // of those among them that are an outer zklock's
  bool wait_all = false;             // hold the lock for what the command leaves behind too
  Deadline hold_until = {};  // also when the command has ended before, unless a signal had ended it or ends this
};

class AttendedCommand : public host::Source {
 public:
  // Signals, guard and lease are in the loop; the signals are the command's from its start on.
  AttendedCommand(host::Signals& signals, host::Guard& guard, Console& console, CommandTerms terms)
      : signals_(signals), guard_(guard), console_(console), terms_(std::move(terms)) {}

  // `variables` are added to its environment. Throws what Guard::start() throws; then there is no command. Whoever
  // calls this has it in the loop, so that it works whatever zklock waits for meanwhile.
  void start(const std::vector<std::string>& variables);
  // Instead: the same, and turns the loop until it is over. It is not in the loop itself. Without a lock any more
  // nothing is started.
  void attend(host::Loop& loop, const std::vector<std::string>& variables);

  // The command has ended, and the lock need not be held for it any more. What it left behind runs on; but if it was
  // lost or had been told to end, nothing of it is left. All that follows is for then.
  bool is_over() const { return over_; }
  // The lock or the guard was lost before the command had ended by itself.
  bool lost() const { return unproved_ || !reason_.empty(); }
  // That was because no quorum could be reached.
  bool unproved() const { return unproved_; }
  // What then ends zklock, 76; `what` was lost, unless the lease knows better.
  Failure loss(const std::string& what) const;
  // zklock's exit status. Throws a Failure where it was lost, could not be executed, or a signal has ended it.
  int status(const std::string& what) const;
  // When it was seen that the command has ended by itself.
  Deadline ended() const { return ended_; }
  // Somebody wanted the command, or the holding, to end.
  bool ending_wanted() const { return ending_wanted_; }

  void arm(host::PollSet& set) override {
    if (!over_) set.wake_at(next());
  }
  void record(const host::PollSet&) override {}
  // Once it is over, throws a Failure without a text, once, to end whatever zklock waits for.
  void decide() override;

 private:
  enum class CommandStage {
    idle,
    running,
    holding,    // the command has ended, the lock is held on
    finishing,  // the command is being ended
  };

  Deadline next() const { return stage_ == CommandStage::holding ? terms_.hold_until : nudge_at_; }
  Deadline fence() const { return terms_.lease ? terms_.lease->fence() : kNever; }
  bool look();
  void trace_end() const;
  bool running_is_over();
  void pass_on_signals();
  void continue_stopped();
  bool has_ended();
  bool hold_on();
  bool holding_is_over();
  bool is_held_on() const { return terms_.lease->proved() >= ended_; }
  void look_for_loss();
  void lose(const char* reason);
  void finish();

  host::Signals& signals_;
  host::Guard& guard_;
  Console& console_;
  CommandTerms terms_;
  GuardTrouble trouble_{guard_, "the command"};
  host::NestingMarks* nest_ = nullptr;  // while attend() is under way
  CommandStage stage_ = CommandStage::idle;
  bool over_ = false;
  std::string reason_;     // of the loss
  bool unproved_ = false;  // that was it
  Deadline ended_ = kNever;
  bool held_on_said_ = false;
  bool ending_wanted_ = false;
  bool terminal_stop_ = false;  // Ctrl-Z was pressed and not answered yet
  Deadline nudge_at_ = kNever;  // then the command should have stopped by now
};

}  // namespace zklock::command
