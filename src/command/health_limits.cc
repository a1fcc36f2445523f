// SPDX-License-Identifier: Apache-2.0
#include "command/health_limits.h"

#include <fmt/format.h>

namespace zklock::command {

const char* name_of(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::warning:
      return "warning";
    case Level::critical:
      return "critical";
    case Level::unknown:
      return "unknown";
  }
  return "";
}

std::vector<Finding> check_limits(const std::vector<ServerHealth>& servers, int64_t serving,
                                  const Thresholds& thresholds) {
  using Millis = std::chrono::duration<double, std::milli>;
  std::vector<Finding> findings;
  if (thresholds.servers && serving < *thresholds.servers) {
    findings.push_back(
        {Level::critical, fmt::format("only {} of {} serve, {} wanted", serving, servers.size(), *thresholds.servers)});
  }
  for (const ServerHealth& server : servers) {
    const std::string address = to_string(server.server);
    const auto& latency = server.status.latency_ms;
    if (latency && thresholds.latency && latency->average > Millis(*thresholds.latency).count()) {
      findings.push_back({Level::warning, fmt::format("{}: average latency {:.4g}ms, more than {}", address,
                                                      latency->average, format_duration(*thresholds.latency))});
    }
    const auto outstanding = server.status.outstanding;
    if (outstanding && thresholds.outstanding && *outstanding > *thresholds.outstanding) {
      findings.push_back({Level::warning, fmt::format("{}: {} requests wait, more than {}", address, *outstanding,
                                                      *thresholds.outstanding)});
    }
  }
  return findings;
}

Finding judge_probe(const Probe& probe) {
  if (!probe.trouble.empty()) return {Level::critical, fmt::format("probe: {}", probe.trouble)};
  return {Level::ok, fmt::format("probe: {} taken in {}, given back in {}", probe.path, format_duration(probe.taken),
                                 format_duration(probe.released))};
}

}  // namespace zklock::command
