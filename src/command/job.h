// SPDX-License-Identifier: Apache-2.0
// One command under one lock, from the first connection to the session's end.
#pragma once

#include "command/attendance.h"
#include "host/guard.h"
#include "host/inherited.h"
#include "host/signals.h"
#include "recipe/lock.h"

#include <optional>
#include <string>

namespace zklock::command {

// How long a lock may take to be had, in line and in all.
struct Patience {
  bool in_line;    // wait there for others, or only look
  Deadline until;  // for all of it, connecting included
};

struct JobOptions {
  std::string path;
  recipe::LockType type;
  std::string note;  // for our node
  Patience patience;
  std::optional<Duration> grace;  // nothing: a part of the session timeout
  bool wait_all = false;
};

class Job {
 public:
  // Forks the guard: before there is a ZooKeeper handle.
  Job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options);

  // Takes the lock, runs the command, gives the lock back; the command's status. Throws a Failure for all else.
  int run();

 private:
  int run_under(recipe::Lock& lock);
  Duration grace() const;
  void check_grace() const;
  void give_back(recipe::Lock& lock, Attendance::End end);
  Failure lost(Attendance::End end, Duration unproved) const;

  JobOptions options_;
  host::Loop loop_;
  host::Signals signals_;
  host::EndOnSignal end_on_signal_{signals_};
  host::Attached receiving_{loop_, signals_};
  host::Attached ending_{loop_, end_on_signal_};
  zk::Session session_;  // outlives the guard: whatever is thrown, the command is dead before the lock is free
  host::Guard guard_;
  host::Attached guarding_{loop_, guard_};
};

}  // namespace zklock::command
