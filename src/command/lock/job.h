// SPDX-License-Identifier: Apache-2.0
// One command under its locks, from the first connection to the session's end: what `run` does once its command line is
// understood.
#pragma once

#include "command/child/note.h"
#include "host/inherited.h"
#include "host/process/guard.h"
#include "recipe/lock/lock.h"

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
  recipe::Patience patience;
  std::optional<Duration> grace;  // nothing: a part of the session timeout
  bool wait_all = false;
  Duration min_hold{};
  std::optional<Duration> once_per;
};

// What an attempt has come to, also when it fails.
struct Course {
  bool connected = false;  // once at least
  bool over = false;       // whatever failed, there shall be no other: somebody wanted the end, or the work was done
};

// Takes the locks, runs the command, gives them back; the command's status. Throws a Failure for all else. Nothing is
// created in ZooKeeper before. Forks a guard: there is no other ZooKeeper handle.
int run_job(host::Program program, const host::Inherited& inherited, zk::SessionOptions session, JobOptions options,
            Course& course);

}  // namespace zklock::command
