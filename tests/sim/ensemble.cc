// SPDX-License-Identifier: Apache-2.0
#include "ensemble.h"

#include <arpa/inet.h>

namespace zklock::sim {

namespace {

constexpr uint16_t kPort = 2181;
constexpr uint32_t kNetwork = 10U << 24;

uint32_t host_of(size_t server, uint32_t moves) {
  return kNetwork | moves << 8 | static_cast<uint32_t>(server + 1);
}

}  // namespace

Ensemble::Ensemble(const EnsembleOptions& its_options) : options(its_options), quorum_(options, *this) {
  for (int i = 0; i < size(); ++i) {
    servers_.push_back(std::make_unique<Server>(options, *this, quorum_, quorum_.at(i)));
    hosts_.push_back(host_of(static_cast<size_t>(i), 0));
  }
  quorum_.on_commit = [this](const Txn& txn) {
    if (on_commit) on_commit(txn);
  };
  quorum_.begin();
}

Listener::Reply Ensemble::on_connect(Connection& connection) {
  if (connection.server < 0) return left_silently_ ? Reply::silence : Reply::refuse;
  return of(connection).on_connect(connection);
}

void Ensemble::on_bytes(Connection& connection) {
  of(connection).on_bytes(connection);
}

void Ensemble::on_end(Connection& connection) {
  of(connection).on_end(connection);
}

bool Ensemble::knows(const Connection& connection) const {
  const Member& member = quorum_.at(connection.server);
  return member.up && member.incarnation == connection.incarnation;
}

int Ensemble::server_at(const sockaddr_in& address) const {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (ntohl(address.sin_addr.s_addr) == hosts_[i] && ntohs(address.sin_port) == kPort) return static_cast<int>(i);
  }
  return -1;
}

void Ensemble::crash(int server, bool silent) {
  if (!is_up(server)) return;
  servers_[static_cast<size_t>(server)]->crash(silent);
  quorum_.crash(server, silent);
}

void Ensemble::move(int server) {
  crash(server, false);
  hosts_[static_cast<size_t>(server)] = host_of(static_cast<size_t>(server), ++moves_);
  note("server {} moves to 10.0.{}.{}", server, moves_, server + 1);
  left_silently_ = world->random.chance(0.5);
  restart(server);
}

std::string Ensemble::addresses() const {
  std::string text;
  for (const uint32_t host : hosts_) {
    text += fmt::format("{}10.0.{}.{}:{}", text.empty() ? "" : ",", host >> 8 & 0xff, host & 0xff, kPort);
  }
  return text;
}

int Ensemble::leader() const {
  const Member* leader = quorum_.leader();
  return leader ? leader->id : -1;
}

int Ensemble::server_of(int64_t session) const {
  for (int i = 0; i < size(); ++i) {
    if (servers_[static_cast<size_t>(i)]->has(session)) return i;
  }
  return -1;
}

}  // namespace zklock::sim
