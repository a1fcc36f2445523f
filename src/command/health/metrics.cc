// SPDX-License-Identifier: Apache-2.0
// The two formats of health.h for monitoring systems: that of monitoring plugins (Nagios) and that of Prometheus.
#include "command/cli/metrics.h"

#include "base/text.h"
#include "command/health/health.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace zklock::command {

namespace {

// --- monitoring plugins

// Returns a number without an exponent, which the grammar does not have.
std::string decimal(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Returns 'label'=value[unit];[warning];[critical];[least];[most].
std::string performance(const std::string& label, const std::string& value, const std::string& warning = "",
                        const std::string& critical = "", const std::string& most = "") {
  std::string quoted = label;
  std::ranges::replace_if(
      quoted, [](char c) { return c == '\'' || c == '=' || c == '|'; }, '_');
  std::string text = fmt::format(" '{}'={};{};{};0;{}", quoted, value, warning, critical, most);
  while (text.ends_with(';')) text.pop_back();
  return text;
}

std::string performance_of(const ServerHealth& server, const Thresholds& thresholds) {
  const zk::ServerStatus& status = server.status;
  std::string text;
  if (status.latency_ms) {
    const std::string most = thresholds.latency ? decimal(seconds_of(*thresholds.latency) * 1e3) : "";
    text += performance(server.address + " latency", decimal(status.latency_ms->average) + "ms", most);
  }
  const auto add = [&](const char* what, const std::optional<int64_t>& value, const char* unit,
                       const std::string& most) {
    if (value) text += performance(fmt::format("{} {}", server.address, what), fmt::format("{}{}", *value, unit), most);
  };
  add("outstanding", status.outstanding, "", thresholds.outstanding ? fmt::format("{}", *thresholds.outstanding) : "");
  add("connections", status.connections, "", "");
  add("nodes", status.nodes, "", "");
  add("received", status.received, "c", "");
  add("sent", status.sent, "c", "");
  return text;
}

// --- Prometheus

std::string server_label(const ServerHealth& server) {
  return label_of("server", server.address);
}

std::string info_labels(const ServerHealth& server) {
  return fmt::format("{},{},{},{}", server_label(server), label_of("state", state_of(server)),
                     label_of("mode", server.status.mode), label_of("version", server.status.version));
}

using Real = std::optional<double>;

Real latency_of(const ServerHealth& server, double zk::Latency::*part) {
  return server.status.latency_ms ? Real((*server.status.latency_ms).*part / 1e3) : std::nullopt;
}

bool probed(const Checkup& checkup) {
  return checkup.probe && checkup.probe->trouble.empty();
}

constexpr MetricFamily<Checkup> kOfEnsemble[] = {
    {"zklock_health_status", "gauge", "0 ok, 1 warning, 2 critical, 3 unknown.",
     [](const Checkup& c) -> Real { return static_cast<int>(c.verdict.level); }},
    {"zklock_health_quorum", "gauge", "1 if the ensemble has a quorum.",
     [](const Checkup& c) -> Real { return c.verdict.quorum; }},
    {"zklock_health_voters", "gauge", "Voters of the ensemble.",
     [](const Checkup& c) -> Real { return c.verdict.voters; }},
    {"zklock_health_voters_in_sync", "gauge", "Voters that are in sync, the leader included.",
     [](const Checkup& c) -> Real { return c.verdict.in_sync; }},
    {"zklock_health_followers", "gauge", "Servers that follow the leader.",
     [](const Checkup& c) -> Real { return c.verdict.following; }},
    {"zklock_health_servers_serving", "gauge", "Servers asked that serve.",
     [](const Checkup& c) -> Real { return c.verdict.serving; }},
    {"zklock_health_probe_success", "gauge", "1 if the probe's lock was taken and given back.",
     [](const Checkup& c) { return c.probe ? Real(probed(c)) : std::nullopt; }},
    {"zklock_health_probe_taken_seconds", "gauge", "Time to take the probe's lock.",
     [](const Checkup& c) { return probed(c) ? Real(seconds_of(c.probe->taken)) : std::nullopt; }},
    {"zklock_health_probe_released_seconds", "gauge", "Time to give it back.",
     [](const Checkup& c) { return probed(c) ? Real(seconds_of(c.probe->released)) : std::nullopt; }},
};

constexpr MetricFamily<ServerHealth> kOfServers[] = {
    {"zklock_server_serving", "gauge", "1 if the server serves.",
     [](const ServerHealth& s) -> Real { return s.serves(); }, server_label},
    {"zklock_server_info", "gauge", "State, mode and version of a server.", [](const ServerHealth&) { return Real(1); },
     info_labels},
    {"zklock_server_latency_average_seconds", "gauge", "Average latency of requests.",
     [](const ServerHealth& s) { return latency_of(s, &zk::Latency::average); }, server_label},
    {"zklock_server_latency_maximum_seconds", "gauge", "Longest latency of a request.",
     [](const ServerHealth& s) { return latency_of(s, &zk::Latency::max); }, server_label},
    {"zklock_server_connections", "gauge", "Connections of clients, ours included.",
     [](const ServerHealth& s) -> Real { return s.status.connections; }, server_label},
    {"zklock_server_outstanding_requests", "gauge", "Requests that wait.",
     [](const ServerHealth& s) -> Real { return s.status.outstanding; }, server_label},
    {"zklock_server_nodes", "gauge", "Nodes of the tree.", [](const ServerHealth& s) -> Real { return s.status.nodes; },
     server_label},
    {"zklock_server_packets_received_total", "counter", "Packets received.",
     [](const ServerHealth& s) -> Real { return s.status.received; }, server_label},
    {"zklock_server_packets_sent_total", "counter", "Packets sent.",
     [](const ServerHealth& s) -> Real { return s.status.sent; }, server_label},
};

}  // namespace

std::string nagios_of(const Checkup& checkup, const Thresholds& thresholds) {
  std::string verdict = printable(line_of(checkup.verdict));
  verdict = verdict.substr(verdict.find(' ') + 1);
  std::ranges::replace(verdict, '|', '/');
  std::string level = name_of(checkup.verdict.level);
  for (char& letter : level) letter = static_cast<char>(letter - 'a' + 'A');
  std::string text = fmt::format("ZOOKEEPER {} - {} |", level, verdict);
  text += performance("serving", fmt::format("{}", checkup.verdict.serving), "",
                      thresholds.servers ? fmt::format("{}:", *thresholds.servers) : "",
                      fmt::format("{}", checkup.servers.size()));
  if (checkup.verdict.in_sync) {
    text += performance("in sync", fmt::format("{}", *checkup.verdict.in_sync), "", "",
                        checkup.verdict.voters ? fmt::format("{}", *checkup.verdict.voters) : "");
  }
  for (const ServerHealth& server : checkup.servers) text += performance_of(server, thresholds);
  if (probed(checkup)) {
    text += performance("probe", decimal(seconds_of(checkup.probe->taken + checkup.probe->released)) + "s");
  }
  return text + '\n';
}

std::string prometheus_of(const Checkup& checkup) {
  std::string text;
  for (const auto& family : kOfEnsemble) text += exposed(family, std::span(&checkup, 1));
  for (const auto& family : kOfServers) text += exposed(family, std::span(checkup.servers));
  return text;
}

}  // namespace zklock::command
