// SPDX-License-Identifier: Apache-2.0
// Memory by which the session of a killed zklock is ended, so that the next contender need not wait until it expires.
// It contains the session's ID and password and the servers' addresses and names. zklock shares it only with its
// guards, and writes it at each connection. Once zklock is dead, the last guard to find nothing left of its command
// resumes the session and closes it. If no server answers, or a guard was killed too, the session expires by itself.
#pragma once

#include "zk/client.h"

#include <functional>
#include <memory>
#include <vector>

namespace zklock::zk {

class SessionPage {
 public:
  // Returns what a guard calls at its end (see above): it takes a few seconds, prints nothing and throws nothing. Call
  // closer() once for each guard, before that guard is forked, because the session is closed only when as many guards
  // have ended. Throws a Failure (70) if there is no memory.
  std::function<void()> closer(const SessionOptions& options);

  // Writes the page; call it at each connection of `client`, and whenever its servers have moved. It does nothing if
  // there are no guards.
  void note(const Client& client, const std::vector<Server>& servers);
  // Notes that there is no session any more.
  void clear();

 private:
  struct Content;
  std::shared_ptr<Content> content_;  // null until there is a guard
  std::vector<Server> noted_;         // the servers in the page
};

}  // namespace zklock::zk
