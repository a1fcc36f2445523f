// SPDX-License-Identifier: Apache-2.0
// A simulated ensemble of ZooKeeper servers: the listener of the simulated network. Servers are numbered from 0.
#pragma once

#include "network.h"
#include "quorum.h"
#include "server.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::sim {

class Ensemble : public Listener, public EnsembleCounters {
 public:
  // There is a world.
  explicit Ensemble(const EnsembleOptions& options);

  Reply on_connect(Connection& connection) override;
  void on_bytes(Connection& connection) override;
  void on_end(Connection& connection) override;
  bool knows(const Connection& connection) const override;
  int server_at(const sockaddr_in& address) const override;

  // See Quorum.
  void restore(const std::string& path, const std::string& data) { quorum_.restore(path, data); }

  // Faults. A silent crash is that of the host: nothing comes from there any more.
  void crash(int server, bool silent);
  void restart(int server) { quorum_.restart(server); }
  // Until `until`, nothing passes between `a` and `b`, or messages from and to `server` take up to `latency` longer.
  void partition(int a, int b, Time until) { quorum_.links().partition(a, b, until); }
  void slow(int server, Time latency, Time until) { quorum_.links().slow(server, latency, until); }
  // On all servers, to write to the log takes up to `longest` until then.
  void slow_disks(Time longest, Time until) { quorum_.slow_disks(longest, until); }
  // Its process stands still.
  void pause(int server, Time until) { quorum_.pause(server, until); }
  // Their wall clocks jump.
  void put_clocks_ahead(Time by) { quorum_.put_clocks_ahead(by); }
  // A follower finds that its connection to the leader is broken.
  void notice(int server) { quorum_.notice(server); }
  // All faults of servers end, and servers that are down start.
  void heal() { quorum_.heal(); }
  // Its process starts again at another address. No server listens at the old one.
  void move(int server);

  // Where the servers are now: "10.0.0.1:2181,10.0.0.2:2181".
  std::string addresses() const;
  int size() const { return options.servers; }
  bool is_up(int server) const { return quorum_.at(server).up; }
  // The one that leads; -1: none.
  int leader() const;
  // The server that the session has a connection to; -1: none.
  int server_of(int64_t session) const;
  // See Quorum.
  Time lives_until(int64_t session) const { return quorum_.lives_until(session); }
  std::string diverged() const { return quorum_.diverged(); }
  const Tree& committed() const { return quorum_.committed(); }
  // Called once for each transaction, when the first server commits it.
  std::function<void(const Txn&)> on_commit;

  const EnsembleOptions options;

 private:
  Server& of(const Connection& connection) { return *servers_[static_cast<size_t>(connection.server)]; }

  Quorum quorum_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<uint32_t> hosts_;  // the addresses, in the host's byte order
  uint32_t moves_ = 0;
  bool left_silently_ = false;  // nothing answers at addresses that servers have left, not even with a refusal
};

}  // namespace zklock::sim
