// SPDX-License-Identifier: Apache-2.0
// What ends the session of a zklock that was killed, so that the next contender need not wait until it expires: its id,
// its password and the servers' addresses and names, in memory that zklock shares with its guards and with nobody else.
// zklock writes it at each connection. Once zklock is dead, the last guard of whose command nothing is left takes the
// session up and closes it. Where no server answers, or a guard was killed too, the session expires by itself.
#pragma once

#include "zk/client.h"

#include <functional>
#include <memory>
#include <vector>

namespace zklock::zk {

class SessionPage {
 public:
  // What a guard does at its end; see above. It does its work in a few seconds, says nothing and throws nothing. For
  // one guard each, and before that is forked: closing waits for as many as were asked for.
  std::function<void()> closer(const ClientOptions& options);

  // At each connection of `client`, and whenever its servers have moved; nothing where there are no guards.
  void note(const Client& client, const std::vector<Server>& servers);
  // There is no session any more.
  void clear();

 private:
  struct Content;
  struct Unmap {
    void operator()(Content* content) const;
  };
  std::unique_ptr<Content, Unmap> content_;  // once there is a guard
  std::vector<Server> noted_;                // as they are in it
};

}  // namespace zklock::zk
