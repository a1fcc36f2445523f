// SPDX-License-Identifier: Apache-2.0
// How the servers are set up, as far as conf and mntr tell: what makes locks less safe, and what could be better. No
// word tells whether old snapshots are removed (autopurge). Pure.
#include "base/text.h"
#include "command/health/health.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace zklock::command {

namespace {

// A limit is near if at most one part in so many is left. An outage moves the clients of one server to the others.
constexpr int64_t kPartLeft = 5;

// Returns how the setting `name` differs between the first server and the first other one that disagrees. Empty: it is
// the same, or unknown.
std::string difference_in(const std::vector<ServerHealth>& servers, const char* name) {
  const ServerHealth* first = nullptr;
  for (const ServerHealth& server : servers) {
    const auto value = server.conf.number(name);
    if (!value) continue;
    if (!first) first = &server;
    const auto other = first->conf.number(name);
    if (value == other) continue;
    return fmt::format("{} differs: {} on {}, {} on {}", name, *other, first->address, *value, server.address);
  }
  return "";
}

// Returns 0 if there is none, or if it is unknown.
int64_t client_limit_of(const ServerHealth& server) {
  return server.conf.number("maxClientCnxns").value_or(0);
}

bool is_near(int64_t count, int64_t limit) {
  return limit > 0 && count >= limit - limit / kPartLeft;
}

void advise_on_connections(const ServerHealth& server, std::vector<std::string>& advice) {
  const int64_t limit = client_limit_of(server);
  if (server.busiest && is_near(server.busiest->connections, limit)) {
    advice.push_back(fmt::format("{}: {} has {} connections, and maxClientCnxns is {} for each client's address",
                                 server.address, printable(server.busiest->address), server.busiest->connections,
                                 limit));
  }
  if (const int64_t rejected = server.mntr.number("zk_connection_rejected").value_or(0); rejected > 0) {
    const std::string why = limit == 0 ? "" : fmt::format(": maxClientCnxns is {} for each client's address", limit);
    advice.push_back(fmt::format("{}: it has turned away {} since it was started{}", server.address,
                                 counted(rejected, "connection"), why));
  }
}

}  // namespace

// No address can have more connections than the server has altogether.
bool may_be_near_limit(const ServerHealth& server) {
  return is_near(server.status.connections.value_or(0), client_limit_of(server));
}

std::optional<BusiestClient> busiest_in(std::string_view cons) {
  std::map<std::string_view, int64_t> counts;
  for (std::string_view line : split(cons, '\n')) {
    // " /10.0.0.7:40544[1](queued=0,recved=1,sent=0)", or " /[0:0:0:0:0:0:0:1]:40544[1](…"
    const size_t end = line.rfind(':', line.rfind('[', line.find('(')));
    if (!line.starts_with(" /") || end == std::string_view::npos) continue;
    ++counts[line.substr(2, end - 2)];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  if (most == counts.end()) return std::nullopt;
  return BusiestClient{std::string(most->first), most->second};
}

std::vector<Finding> judge_settings(const std::vector<ServerHealth>& servers) {
  std::vector<Finding> findings;
  for (const char* name : {"minSessionTimeout", "maxSessionTimeout"}) {
    const std::string difference = difference_in(servers, name);
    if (!difference.empty()) findings.push_back({Level::warning, difference});
  }
  for (const ServerHealth& server : servers) {
    const auto least = server.conf.number("minSessionTimeout");
    const auto tick = server.conf.number("tickTime");
    if (!least || !tick || *tick <= *least / 2) continue;
    findings.push_back({Level::warning, fmt::format("{}: minSessionTimeout {} is less than two ticks of {}",
                                                    server.address, *least, *tick)});
  }
  return findings;
}

std::vector<std::string> advise(const std::vector<ServerHealth>& servers, int64_t voters) {
  std::vector<std::string> advice;
  if (voters > 0 && voters % 2 == 0) {
    advice.push_back(
        fmt::format("{} voters are an even number: no more of them may fail than of {}", voters, voters - 1));
  }
  for (const char* name : {"tickTime", "initLimit", "syncLimit", "maxClientCnxns"}) {
    const std::string difference = difference_in(servers, name);
    if (!difference.empty()) advice.push_back(difference);
  }
  for (const ServerHealth& server : servers) advise_on_connections(server, advice);
  return advice;
}

}  // namespace zklock::command
