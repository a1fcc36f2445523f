// SPDX-License-Identifier: Apache-2.0
// The two formats of health_report.h that are read by monitoring systems.
#include "base/text.h"
#include "command/health/report.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace zklock::command {

namespace {

double seconds(Duration span) {
  return std::chrono::duration<double>(span).count();
}

// --- monitoring plugins
// -----------------------------------------------------------------------------------------------

// Without an exponent, which the grammar does not have.
std::string decimal(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// 'label'=value[unit];[warning];[critical];[least];[most]
std::string performance(const std::string& label, const std::string& value, const std::string& warning = "",
                        const std::string& critical = "", const std::string& most = "") {
  std::string quoted = label;
  std::replace_if(
      quoted.begin(), quoted.end(), [](char c) { return c == '\'' || c == '=' || c == '|'; }, '_');
  std::string text = fmt::format(" '{}'={};{};{};0;{}", quoted, value, warning, critical, most);
  while (text.ends_with(';')) text.pop_back();
  return text;
}

std::string performance_of(const ServerHealth& server, const Thresholds& thresholds) {
  const zk::ServerStatus& status = server.status;
  const std::string address = to_string(server.server);
  std::string text;
  if (status.latency_ms) {
    const std::string most = thresholds.latency ? decimal(seconds(*thresholds.latency) * 1e3) : "";
    text += performance(address + " latency", decimal(status.latency_ms->average) + "ms", most);
  }
  const auto add = [&](const char* what, const std::optional<int64_t>& value, const char* unit,
                       const std::string& most) {
    if (value) text += performance(fmt::format("{} {}", address, what), fmt::format("{}{}", *value, unit), most);
  };
  add("outstanding", status.outstanding, "", thresholds.outstanding ? fmt::format("{}", *thresholds.outstanding) : "");
  add("connections", status.connections, "", "");
  add("nodes", status.nodes, "", "");
  add("received", status.received, "c", "");
  add("sent", status.sent, "c", "");
  return text;
}

// --- Prometheus
// -------------------------------------------------------------------------------------------------------

std::string quoted(std::string_view text) {
  std::string value = printable(text);
  for (size_t at = 0; (at = value.find_first_of("\\\"", at)) != std::string::npos; at += 2) value.insert(at, "\\");
  return '"' + value + '"';
}

class Exposition {
 public:
  explicit Exposition(const Look& look) : look_(look) {}

  void head(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void sample(const char* name, const std::string& labels, double value) {
    text_ += fmt::format("{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}", value);
  }
  void single(const char* name, const char* help, std::optional<double> value) {
    if (!value) return;
    head(name, "gauge", help);
    sample(name, "", *value);
  }
  // One sample a server that has the value; the family is left out where none has.
  void each(const char* name, const char* type, const char* help,
            const std::function<std::optional<double>(const ServerHealth&)>& value) {
    bool begun = false;
    for (const ServerHealth& server : look_.servers) {
      const auto number = value(server);
      if (!number) continue;
      if (!begun) head(name, type, help);
      begun = true;
      sample(name, server_label(server), *number);
    }
  }
  static std::string server_label(const ServerHealth& server) { return "server=" + quoted(to_string(server.server)); }
  std::string text() const { return text_; }

 private:
  const Look& look_;
  std::string text_;
};

template <typename Value>
std::optional<double> number_of(const std::optional<Value>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

void expose_ensemble(Exposition& out, const Look& look) {
  const HealthVerdict& verdict = look.verdict;
  out.single("zklock_health_status", "0 ok, 1 warning, 2 critical, 3 unknown.", static_cast<double>(verdict.level));
  out.single("zklock_health_quorum", "1 if the ensemble has a quorum.", number_of(verdict.quorum));
  out.single("zklock_health_voters", "Voters of the ensemble.", number_of(verdict.voters));
  out.single("zklock_health_voters_in_sync", "Voters that are in sync, the leader included.",
             number_of(verdict.in_sync));
  out.single("zklock_health_followers", "Servers that follow the leader.", static_cast<double>(verdict.following));
  out.single("zklock_health_servers_serving", "Servers asked that serve.", static_cast<double>(verdict.serving));
  if (!look.probe) return;
  const bool success = look.probe->trouble.empty();
  out.single("zklock_health_probe_success", "1 if the probe's lock was taken and given back.", success ? 1 : 0);
  if (!success) return;
  out.single("zklock_health_probe_taken_seconds", "Time to take the probe's lock.", seconds(look.probe->taken));
  out.single("zklock_health_probe_released_seconds", "Time to give it back.", seconds(look.probe->released));
}

void expose_servers(Exposition& out, const Look& look) {
  out.each("zklock_server_serving", "gauge", "1 if the server serves.",
           [](const ServerHealth& s) { return s.serves() ? 1.0 : 0.0; });
  out.head("zklock_server_info", "gauge", "State, mode and version of a server.");
  for (const ServerHealth& server : look.servers) {
    out.sample("zklock_server_info",
               fmt::format("{},state={},mode={},version={}", Exposition::server_label(server), quoted(state_of(server)),
                           quoted(server.status.mode), quoted(server.status.version)),
               1);
  }
  const auto latency = [](double zk::Latency::*part) {
    return [part](const ServerHealth& s) {
      return s.status.latency_ms ? std::optional((*s.status.latency_ms).*part / 1e3) : std::nullopt;
    };
  };
  out.each("zklock_server_latency_average_seconds", "gauge", "Average latency of requests.",
           latency(&zk::Latency::average));
  out.each("zklock_server_latency_maximum_seconds", "gauge", "Longest latency of a request.",
           latency(&zk::Latency::max));
  const auto add = [&](const char* name, const char* type, const char* help,
                       std::optional<int64_t> zk::ServerStatus::*part) {
    out.each(name, type, help, [part](const ServerHealth& s) { return number_of(s.status.*part); });
  };
  using Status = zk::ServerStatus;
  add("zklock_server_connections", "gauge", "Connections of clients, ours included.", &Status::connections);
  add("zklock_server_outstanding_requests", "gauge", "Requests that wait.", &Status::outstanding);
  add("zklock_server_nodes", "gauge", "Nodes of the tree.", &Status::nodes);
  add("zklock_server_packets_received_total", "counter", "Packets received.", &Status::received);
  add("zklock_server_packets_sent_total", "counter", "Packets sent.", &Status::sent);
}

}  // namespace

std::string nagios_of(const Look& look, const Thresholds& thresholds) {
  std::string verdict = printable(line_of(look.verdict));
  verdict = verdict.substr(verdict.find(' ') + 1);
  std::replace(verdict.begin(), verdict.end(), '|', '/');
  std::string level = name_of(look.verdict.level);
  std::transform(level.begin(), level.end(), level.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  std::string text = fmt::format("ZOOKEEPER {} - {} |", level, verdict);
  text += performance("serving", fmt::format("{}", look.verdict.serving), "",
                      thresholds.servers ? fmt::format("{}:", *thresholds.servers) : "",
                      fmt::format("{}", look.servers.size()));
  if (look.verdict.in_sync) {
    text += performance("in sync", fmt::format("{}", *look.verdict.in_sync), "", "",
                        look.verdict.voters ? fmt::format("{}", *look.verdict.voters) : "");
  }
  for (const ServerHealth& server : look.servers) text += performance_of(server, thresholds);
  if (look.probe && look.probe->trouble.empty()) {
    text += performance("probe", decimal(seconds(look.probe->taken + look.probe->released)) + "s");
  }
  return text + '\n';
}

std::string prometheus_of(const Look& look) {
  Exposition out(look);
  expose_ensemble(out, look);
  expose_servers(out, look);
  return out.text();
}

}  // namespace zklock::command
