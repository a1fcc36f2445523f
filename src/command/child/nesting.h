// SPDX-License-Identifier: Apache-2.0
// zklock run inside zklock run. What the outer ones hold stands in the environment, as ZKLOCK_NODE and ZKLOCK_TOKEN of
// the innermost and ZKLOCK_OUTER of those around it; what stands there is believed when the server knows the node and
// the process that wrote its note is our ancestor.
#pragma once

#include "host/fd.h"
#include "recipe/lock/lock.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The nodes by which the zklocks that run us hold their locks on `servers`: those of ZKLOCK_NODE and of ZKLOCK_OUTER.
// Each is made once only, so it is gone when the lock is. Throws a Failure (64) where ZKLOCK_NODE has none, or others.
std::vector<std::string> held_nodes(const zk::ServerList& servers);

class Nesting {
 public:
  // Tells the outer zklocks at once that one of `paths`, a lock or so many `slots`, may be used by us; until then they
  // would not wait for us when the command that we are part of ends. Throws a Failure (70) where that cannot be told.
  Nesting(const std::vector<std::string>& paths, int64_t slots);

  // What an outer zklock holds at `path` and is as good as what is wanted, `type` or so many `slots`. Throws a Failure
  // where waiting for it would be waiting for ourselves: 64 when it is shared and ours would be exclusive, 77 when we
  // may not read its node.
  std::optional<recipe::Held> find_outer(zk::Session& session, const std::string& path, recipe::LockType type,
                                         int64_t slots, Deadline until);

  // Who holds, by our environment, a lock that find_outer() was asked for, and is not seen among our ancestors: it may
  // run us from another PID namespace or host, and then wait for us. "pid 7 on web1", or "".
  const std::string& unseen() const { return unseen_; }

  // Of what find_outer() has found, once for all: we use no other lock of theirs, and they need not wait for us to.
  void settle(const std::vector<recipe::Held>& held);

  // Of the outer locks that we use.
  std::vector<int64_t> tokens() const;

  // ZKLOCK_OUTER for a command under `held` on `servers`; nothing if there is no outer one.
  std::optional<std::string> variable(const std::vector<recipe::Held>& held, const std::string& servers) const;

 private:
  struct Outer {
    std::string node;
    int64_t token;
    std::string servers;  // a list; "": not known
    host::Fd mark;
  };

  void add(const std::string& node, const std::string& token, const std::string& servers);

  std::vector<Outer> outers_;  // the innermost first
  std::string unseen_;
};

}  // namespace zklock::command
