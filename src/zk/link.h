// SPDX-License-Identifier: Apache-2.0
// Keeps a client connected: drives it in the loop, cuts silent connections, and goes on to a server that has not failed
// yet. The limits are parts of the session timeout T (zk/timing.h). A request that is unanswered for T/6 cuts the
// connection. An attempt to connect takes T/6 at most, and never more than 2.5 s. Before the first connection it may
// take longer: the limit doubles with each round of failed servers (link.cc). In a TLS handshake, it grows with the
// time without a connection, as does the pause after each round.
//
// A connected session is always heard by its server: if nothing was sent for T/8, the link sends a cheap read; if an
// answer is late, it does so sooner. This includes contenders in a line and idle consumers. So what they are granted
// counts from the moment before the transaction that showed it, as a new lock does. If zklock itself was silent for
// longer, because it was paused, the link gives up the connection before it believes any answer.
#pragma once

#include "host/loop.h"
#include "zk/addresses.h"
#include "zk/client.h"
#include "zk/last_heard.h"
#include "zk/timing.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace zklock::zk {

class Link : public host::Source {
 public:
  // `servers` have numeric addresses, which are tried in this order. `connected` is called, while recording, whenever
  // the session is established or resumed; it must only record.
  Link(Client& client, const std::vector<Server>& servers, std::function<void()> connected = nullptr)
      : client_(client), connected_(std::move(connected)), addresses_(servers) {}

  const Client& client() const { return client_; }

  // Replaces the servers. A connection stays; an attempt to reach a server that is no longer in the list ends.
  void use(const std::vector<Server>& servers);

  // Returns since when there has been no session on a connection; kNever while there is one.
  Deadline unconnected_since() const { return unconnected_since_; }

  // How long the request that was answered last took; zero before the first answer.
  Duration round_trip() const { return round_trip_; }

  // True if zklock itself stood still for too long; the connection is given up at the next turn.
  bool was_silent() const;

  // See LastHeard.
  Deadline proof_now() const { return leader_.proof_at(BootClock::now(), client_.session_timeout()); }

  // Returns how long an attempt to resume the session may take at most. While a server does not answer in the TLS
  // handshake, this is longer, the longer the session has been without a connection.
  Duration longest_attempt() const;

  // Returns the server (address and port) with which TLS failed last, or is still in its handshake, and how. Returns no
  // value if a later handshake with it succeeded, or a server has answered since.
  using TlsTrouble = std::pair<std::string, host::TlsFailure>;
  std::optional<TlsTrouble> tls_trouble() const;
  // Returns true if TLS fails with every server in a way that waiting does not cure.
  bool all_refuse() const { return addresses_.all_refuse(); }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;

 private:
  // To connect, or the connection that came of it.
  struct ServerAttempt {
    bool under_way = false;  // there is a socket, connected or connecting
    std::string server;      // the server of that socket
    Deadline since{};
    Deadline not_before{};  // the next round of attempts; none is made before
  };

  void note_state();
  void begin_attempt();
  void note_failure();
  void trace_loss();
  void cut(bool paused = false);
  Deadline cut_at() const;
  bool in_tls_handshake() const;  // or the last attempt ended in it
  Deadline handshake_since() const;
  Duration round_pause() const;
  void be_heard();
  Deadline word_at() const;

  Client& client_;
  std::function<void()> connected_;
  Addresses addresses_;
  bool expiry_traced_ = false;
  Client::Interest polled_;  // valid until the next call into the client
  ServerAttempt attempt_;
  std::optional<TlsTrouble> trouble_;
  uint64_t answers_ = 0;  // the client's count of answers, as of the last turn
  Deadline unconnected_since_ = BootClock::now();
  Deadline heard_{};  // while connected: our server has heard of us at this moment or later, as of the last turn
  LastHeard leader_{kBusyMachine};  // what it knows of us
  Duration round_trip_{};           // of the request that was answered last
};

// A second session, which is tried while ours cannot be resumed. Servers that have lost their data refuse for ever a
// client that has seen more than they have. They give no reason: they close the connection, like a server that does not
// serve yet. But they accept a new session. If the second session stays connected for a while and ours does not, ours
// is over.
class SecondSession {
 public:
  SecondSession(host::Loop& loop, const SessionOptions& options, const std::vector<Server>& servers)
      : client_(options), link_(client_, servers), attached_(loop, link_) {}

  void use(const std::vector<Server>& servers) { link_.use(servers); }

  // Returns true while the servers accept new sessions.
  bool connected() const { return client_.state() == ClientState::connected; }
  // Returns true if this second session itself has ended, so that another one is needed.
  bool is_over() const { return client_.state() == ClientState::expired; }
  // Returns when the servers would have resumed our session, too, if they still wanted it: it may need two attempts at
  // dead servers, of the length given. Returns kNever while this second session is not connected.
  Deadline confirmed_at(Duration attempt);

 private:
  Client client_;
  Link link_;
  host::Attached attached_;
  Deadline connected_since_ = kNever;
};

}  // namespace zklock::zk
