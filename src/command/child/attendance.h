// SPDX-License-Identifier: Apache-2.0
// Attends to a command while it runs under its lock: starts it, passes signals on, keeps it from being stopped by
// Ctrl-Z, and ends it with all its descendants when the lock is lost or can no longer be proved. After its end the lock
// is held on for a zklock that it left behind under the same lock, and for a while if so wanted.
#pragma once

#include "command/child/signal_relay.h"
#include "host/process/guard.h"
#include "host/process/mark.h"
#include "host/signals.h"
#include "recipe/lock/lease.h"

#include <string>
#include <vector>

namespace zklock::command {

// How the command is ended, and what the lock is held for.
struct Terms {
  Duration grace{};       // between SIGTERM and SIGKILL
  bool wait_all = false;  // hold the lock for what the command leaves behind too
  bool verbose = false;   // say when the connection goes and comes
  Deadline hold_until{};  // also when the command has ended before, unless a signal had ended it or ends this
};

class Attendance {
 public:
  // All are in the loop. `tokens`: of the locks that are held.
  Attendance(host::Loop& loop, host::Signals& signals, host::Guard& guard, const zk::Session& session,
             recipe::Lease& lease, std::vector<int64_t> tokens, Terms terms)
      : loop_(loop),
        relay_(signals, guard, "its lock"),
        guard_(guard),
        session_(session),
        lease_(lease),
        nest_(std::move(tokens)),
        awaiting_nested_(loop, nest_),
        terms_(terms) {}

  enum class End {
    own,           // the command ended, and so did what it left behind if a signal had ended it
    node_deleted,  // the rest: the lock was lost, nothing of the command is left
    revoked,
    expired,
    unproved,
    guard_killed,
    found_deleted,  // likewise, but the command had ended by itself, maybe before that
  };

  // `variables` are added to the command's environment. Afterwards the guard has the command's wait status.
  End attend(const std::vector<std::string>& variables);

  // When it was seen that the command has ended by itself.
  Deadline ended() const { return ended_; }

  // Somebody wanted the command, or the holding, to end.
  bool ending_wanted() const { return relay_.ending_wanted(); }

 private:
  enum class Stage {
    running,
    holding,    // the command has ended, the lock is held on
    finishing,  // the command is being ended
  };

  bool is_over();
  bool has_ended();
  bool holding_is_over();
  void hold_on();
  bool is_held_on() const { return lease_.proved() >= ended_; }
  void look_at_lock();
  void look_at_command();
  void report_connection();
  void finish(End end);

  host::Loop& loop_;
  SignalRelay relay_;
  host::Guard& guard_;
  const zk::Session& session_;
  recipe::Lease& lease_;
  host::NestingMarks nest_;
  host::Attached awaiting_nested_;
  Terms terms_;
  Stage stage_ = Stage::running;
  End end_ = End::own;
  Deadline ended_ = kNever;
  bool held_on_said_ = false;
  bool connected_ = true;  // as last said
};

}  // namespace zklock::command
