// SPDX-License-Identifier: Apache-2.0
// One command under its locks, from the first connection to the session's end.
#pragma once

#include "command/child/attendance.h"
#include "command/child/nesting.h"
#include "command/child/note.h"
#include "command/lock/restart.h"
#include "host/process/guard.h"
#include "host/signals.h"
#include "recipe/lock/last_success.h"
#include "recipe/lock/lock.h"
#include "recipe/lock/lock_set.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The session timeout divided by this is the longest grace: more leaves no time to find a third server before SIGTERM.
inline constexpr int kGraceParts = 8;

struct JobOptions {
  std::vector<std::string> paths;  // in byte order, none twice
  recipe::LockType type;
  int64_t slots = 0;  // how many may hold one; 0: it is no lock with slots
  Note note;          // for our nodes
  recipe::WaitPolicy patience;
  std::optional<Duration> grace;  // nothing: a part of the session timeout
  bool wait_all = false;
  Duration min_hold{};
  std::optional<Duration> once_per;
};

class Job {
 public:
  // Forks the guard: before there is a ZooKeeper handle. `course` is told how far it comes.
  Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
      Course& course);

  // Takes the locks, runs the command, gives them back; the command's status. Throws a Failure for all else.
  int run();

 private:
  recipe::LockSet::Locks make_locks(recipe::WaitObserver& observer);
  int run_under(recipe::LockSet& locks);
  Attendance::End attend(recipe::Lease& lease, const std::vector<recipe::Held>& held);
  void check_last_success(recipe::LastSuccess& last, Deadline fence, recipe::LockSet& locks);
  std::vector<std::string> variables(const std::vector<recipe::Held>& held) const;
  Duration grace() const;
  void check_grace() const;
  void give_back(recipe::LockSet& locks, Attendance::End end);
  void drop_signals();
  void record_success(recipe::LastSuccess& last, recipe::LockSet& locks);
  bool finish_unless_ended(const std::function<void()>& finish, const std::string& otherwise);
  std::string names() const;
  Failure lost(Attendance::End end, const std::string& which, Duration unproved) const;

  JobOptions options_;
  Course& course_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  zk::Session session_;  // outlives the guard: whatever is thrown, the command is dead before the lock is free
  host::Guard guard_;
  host::Attached guarding_{loop_, guard_};
  Nesting nesting_;
  Deadline ended_ = kNever;  // when the command was seen to have ended by itself
};

}  // namespace zklock::command
