// SPDX-License-Identifier: Apache-2.0
// Keeps a client connected: drives it in the loop, cuts what is silent, and goes on to a server that has not failed
// yet. Parts of the session timeout T (zk/timing.h) decide: a request unanswered for T/6 cuts the connection, and an
// attempt to connect gets T/6, 2.5 s at most; before the first connection twice as long with each round in vain. The
// pause after each round grows with the time that they have been away.
//
// Whoever has a session is heard: when nothing was sent for T/8 it sends a cheap read. So does who waits in line or at
// a queue; what is granted to him then counts from the moment before the transaction that showed it, like a new lock.
// After a longer silence of our own, because we were paused, the connection is given up before any answer is believed.
#pragma once

#include "host/loop.h"
#include "zk/addresses.h"
#include "zk/client.h"
#include "zk/last_heard.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace zklock::zk {

class Link : public host::Source {
 public:
  // `servers` with numeric addresses, tried in this order. `connected` is called whenever the session is established or
  // taken up again, while recording; it acts on nothing.
  Link(Client& client, const std::vector<Server>& servers, std::function<void()> connected = nullptr)
      : client_(client), connected_(std::move(connected)), addresses_(servers) {}

  // From now on these. A connection stays; an attempt to reach one that is not among them ends.
  void use(const std::vector<Server>& servers);

  // kNever while there is a session on a connection.
  Deadline unconnected_since() const { return unconnected_since_; }

  // See LastHeard.
  Deadline proof_now() const { return leader_.proof_at(BootClock::now(), client_.session_timeout()); }

  // With whom TLS failed last, and how, or is not agreed on yet; nothing where it is, or a server has answered since.
  struct TlsTrouble {
    std::string server;  // address and port
    host::TlsFailure failure;
  };
  std::optional<TlsTrouble> tls_trouble() const;
  // Whether it fails with all servers, and no waiting heals it.
  bool all_refuse() const { return addresses_.all_refuse(); }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;

 private:
  void note_state();
  void begin_attempt();
  void note_failure();
  void trace_loss();
  void cut();
  Deadline cut_at() const;
  Deadline handshake_since() const;
  Duration round_pause() const;
  void be_heard();
  bool was_silent() const;

  Client& client_;
  std::function<void()> connected_;
  Addresses addresses_;
  bool expiry_traced_ = false;
  int fd_ = -1;            // valid until the next call into the client
  Deadline not_before_{};  // the next round; no attempt before this moment
  bool has_unread_ = false;
  bool trying_ = false;  // there is a socket, in use or being connected
  std::string server_;   // whom it belongs to
  Deadline tried_since_{};
  std::optional<TlsTrouble> trouble_;
  uint64_t answers_ = 0;  // as far as they were counted here
  Deadline unconnected_since_ = BootClock::now();
  Deadline heard_{};  // while connected: a moment since which our server has heard of us, as of the last turn
  LastHeard leader_;
};

// Another session, tried while ours cannot be taken up again. Servers that have lost their data refuse a client that
// has seen more than they have, for ever and without a word (as they close the connection when they do not serve yet);
// a new session they take. Where that stands for a while and ours does not, ours is over.
class SecondSession {
 public:
  SecondSession(host::Loop& loop, const ClientOptions& options, const std::vector<Server>& servers)
      : client_(options), link_(client_, servers), attached_(loop, link_) {}

  void use(const std::vector<Server>& servers) { link_.use(servers); }

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
