// SPDX-License-Identifier: Apache-2.0
// zklock run inside zklock run. The environment says what the outer ones hold: ZKLOCK_NODE and ZKLOCK_TOKEN are those
// of the innermost, ZKLOCK_OUTER those of the others. An entry is believed only if the server has the node and the
// process that wrote its note is our ancestor.
#pragma once

#include "host/fd.h"
#include "recipe/lock/lock.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// Returns the nodes by which the zklocks that run us hold their locks on `servers`, from ZKLOCK_NODE and ZKLOCK_OUTER.
// A name is never used twice, so such a node is gone when its lock is. Throws a Failure (64) if ZKLOCK_NODE is empty,
// or names a bad path or a node that is not a lock's.
std::vector<std::string> held_nodes(const zk::ServerList& servers);

class Nesting {
 public:
  // Reads the environment, and marks each outer lock at one of `paths`, below `chroot`, as perhaps used by us. `slots`
  // says how many slots each path has; 0: plain locks. An outer zklock whose command ends waits for us only because of
  // this mark. Throws a Failure (70) if a mark cannot be made.
  Nesting(const std::vector<std::string>& paths, const std::string& chroot, int64_t slots);

  // Returns what an outer zklock holds at `path` if that is enough for what is wanted: `type`, or one of so many
  // `slots`. Otherwise returns nothing. Throws what the session throws, and a Failure if we would wait for ourselves:
  // 64 if the outer lock is shared and ours would be exclusive, or if it is in Kazoo's line alone and ours would be in
  // two; 77 if we may not read its node.
  std::optional<recipe::Held> find_outer(zk::Session& session, const std::string& path, recipe::LockType type,
                                         int64_t slots);

  // Returns which zklock, by our environment, holds a lock asked of find_outer(), but is not seen among our ancestors:
  // "pid 7 on web1"; else "". If it runs us from another PID namespace or host, it waits for us, and we would wait for
  // it.
  const std::string& unseen() const { return unseen_; }

  // Keeps our marks on the outer locks in `held`, which find_outer() has returned, and removes all others for good. The
  // holders of those then need not wait for us.
  void settle(const std::vector<recipe::Held>& held);

  // Returns the tokens of the outer locks that we use.
  std::vector<int64_t> tokens() const;

  // Returns "ZKLOCK_OUTER=..." for a command that runs under `held` on `servers`; nothing if there are no outer locks
  // besides `held`.
  std::optional<std::string> variable(const std::vector<recipe::Held>& held, const std::string& servers) const;

 private:
  // An entry of the environment.
  struct Outer {
    std::string node;  // below its own chroot
    std::string here;  // below ours
    int64_t token;
    std::string servers;  // a list; "": unknown
    host::Fd mark;        // for the holder, if we want this lock
    host::Fd between;     // for a zklock between the holder and us, which uses this lock
  };

  bool is_open(zk::Session& session, const Outer& outer, pid_t holder);

  std::vector<Outer> outers_;  // the innermost first
  std::string unseen_;
};

// Returns "ZKLOCK_OUTER=..." for a command of a zklock on `servers` that holds no lock itself: the locks of a zklock
// that runs us are the command's too. Returns nothing if there are none.
std::optional<std::string> outer_variable(const std::string& servers);

}  // namespace zklock::command
