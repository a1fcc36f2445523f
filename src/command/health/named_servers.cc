// SPDX-License-Identifier: Apache-2.0
#include "command/health/named_servers.h"

#include <algorithm>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kUsualTime = 5s;  // what ZooKeeper's own tools take

void add(std::vector<zk::Server>& servers, const zk::ServerList& more) {
  for (const zk::Server& server : more.servers) {
    const auto same = [&](const zk::Server& other) { return to_string(other) == to_string(server); };
    if (std::none_of(servers.begin(), servers.end(), same)) servers.push_back(server);
  }
}

}  // namespace

std::vector<zk::Server> named_servers(const std::vector<std::string>& words, const GlobalOptions& global) {
  std::vector<zk::Server> servers;
  for (const std::string& word : words) add(servers, zk::ServerList::parse(word, "the command line"));
  if (words.empty()) add(servers, server_list(global));
  return servers;
}

Duration asking_time(const Value& timeout) {
  if (!timeout) return kUsualTime;
  const Duration span = duration_of(*timeout, "--timeout");
  if (span > Duration::zero()) return span;
  throw usage_error("--timeout 0 leaves no time to answer: write one like 5s");
}

}  // namespace zklock::command
