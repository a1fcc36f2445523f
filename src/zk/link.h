// SPDX-License-Identifier: Apache-2.0
// Keeps a client connected: drives it in the loop, cuts what is silent, and goes on to a server that has not failed
// yet. Three spans decide, all parts of the session timeout T: a request unanswered for T/6 cuts the connection, an
// attempt to connect gets T/6, and the library pauses T/60 after each round of servers.
#pragma once

#include "host/loop.h"
#include "zk/client.h"

#include <set>
#include <string>

namespace zklock::zk {

class Link : public host::Source {
 public:
  explicit Link(Client& client) : client_(client), round_(client.round()) {}

  // kNever while there is a session on a connection.
  Deadline unconnected_since() const { return unconnected_since_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;

 private:
  void note_state();
  void note_attempt();
  void cut();
  Deadline cut_at() const;
  bool was_paused(Deadline moment) const;

  Client& client_;
  size_t round_;
  int fd_ = -1;                           // valid until the next call into the client
  Deadline not_before_{};                 // no interest() before this moment
  Deadline due_ = BootClock::now();       // when the turn that was armed should be over
  Deadline recorded_ = BootClock::now();  // when the last one was
  bool trying_ = false;                   // there is a socket, in use or being connected
  std::string server_;                    // whom it belongs to
  Deadline tried_since_{};
  std::set<std::string> failed_;  // cut or broken since the last answer
  size_t attempts_ = 0;           // since the last answer or the last full round
  uint64_t answers_ = 0;          // as far as they were counted here
  Deadline unconnected_since_ = BootClock::now();
  Deadline connected_since_{};  // of the connection in use
};

}  // namespace zklock::zk
