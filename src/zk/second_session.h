// SPDX-License-Identifier: Apache-2.0
// Another session, tried while ours cannot be taken up again. Servers that have lost their data refuse a client that
// has seen more than they have, for ever and without a word (as they close the connection when they do not serve yet);
// a new session they take. Where that stands for a while and ours does not, ours is over.
#pragma once

#include "host/loop.h"
#include "zk/client.h"
#include "zk/link.h"

namespace zklock::zk {

class SecondSession {
 public:
  SecondSession(host::Loop& loop, const ClientOptions& options)
      : client_(options), link_(client_), attached_(loop, link_) {}

  // The servers take new sessions.
  bool connected() const { return client_.state() == ClientState::connected; }
  // By then ours would have been taken up too, had they wanted it. kNever while it is not connected either.
  Deadline confirmed_at();

 private:
  Client client_;
  Link link_;
  host::Attached attached_;
  Deadline connected_since_ = kNever;
};

}  // namespace zklock::zk
