// SPDX-License-Identifier: Apache-2.0
// Server's answers to four-letter words.
#include "server.h"

#include <algorithm>

namespace zklock::sim {

namespace {

constexpr size_t kWord = 4;
constexpr const char* kNotServing = "This ZooKeeper instance is not currently serving requests\n";
constexpr const char* kVersion = "3.8.0-0, built on 2022-02-25 08:49 UTC";

}  // namespace

// As a length, a word would be far too large for a request.
bool Server::take_word(const Client& client) {
  const std::string& bytes = client.connection->unread;
  const bool is_word = !client.greeted && bytes.size() >= kWord &&
                       std::all_of(bytes.begin(), bytes.begin() + kWord, [](char c) { return c >= 'a' && c <= 'z'; });
  if (!is_word) return false;
  client.connection->send_down(reply_to(bytes.substr(0, kWord)));
  close(client.connection->serial);
  return true;
}

std::string Server::reply_to(const std::string& word) const {
  const bool leads = member_.state == Member::State::leading;
  const char* const mode = leads ? "leader" : "follower";
  if (word == "ruok") return "imok";
  if (!member_.serves()) return kNotServing;
  if (word == "conf") {
    return fmt::format("clientPort=2181\ntickTime={}\nserverId={}\n", options_.tick / ms, member_.id);
  }
  if (word == "srvr") {
    return fmt::format(
        "Zookeeper version: {}\nLatency min/avg/max: 0/0.5/9\nReceived: {}\nSent: {}\nConnections: {}\n"
        "Outstanding: 0\nZxid: {:#x}\nMode: {}\nNode count: {}\n",
        kVersion, last_request_, last_request_, clients_.size(), member_.tree.zxid, mode, member_.tree.nodes.size());
  }
  if (word == "mntr") {
    const std::string followers = leads ? fmt::format("zk_synced_followers\t{}\n", quorum_.members().size() - 1) : "";
    return fmt::format(
        "zk_version\t{}\nzk_avg_latency\t0.5\nzk_num_alive_connections\t{}\nzk_outstanding_requests\t0\n"
        "zk_server_state\t{}\nzk_znode_count\t{}\n{}",
        kVersion, clients_.size(), mode, member_.tree.nodes.size(), followers);
  }
  return word + " is not executed because it is not in the whitelist.\n";
}

}  // namespace zklock::sim
