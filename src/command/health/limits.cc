// SPDX-License-Identifier: Apache-2.0
#include "command/health/limits.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

using Millis = std::chrono::duration<double, std::milli>;

// Averages are often below a millisecond, which format_duration rounds.
std::string limit_of(Duration latency) {
  const double millis = Millis(latency).count();
  return millis < 1 ? fmt::format("{:.4g}ms", millis) : format_duration(latency);
}

}  // namespace

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
                                                      latency->average, limit_of(*thresholds.latency))});
    }
    const auto outstanding = server.status.outstanding;
    if (outstanding && thresholds.outstanding && *outstanding > *thresholds.outstanding) {
      findings.push_back({Level::warning, fmt::format("{}: {} requests wait, more than {}", address, *outstanding,
                                                      *thresholds.outstanding)});
    }
  }
  return findings;
}

std::vector<Finding> check_settings(const std::vector<ServerHealth>& servers, std::optional<int64_t> voters) {
  std::vector<Finding> findings;
  for (const char* name : {"minSessionTimeout", "maxSessionTimeout"}) {
    const ServerHealth* first = nullptr;
    for (const ServerHealth& server : servers) {
      const auto value = server.conf.number(name);
      if (!value) continue;
      if (!first) first = &server;
      if (*value == first->conf.number(name)) continue;
      findings.push_back({Level::warning, fmt::format("{} differs: {} on {}, {} on {}", name, *first->conf.number(name),
                                                      to_string(first->server), *value, to_string(server.server))});
      break;
    }
  }
  for (const ServerHealth& server : servers) {
    const auto least = server.conf.number("minSessionTimeout");
    const auto tick = server.conf.number("tickTime");
    if (!least || !tick || *tick <= *least / 2) continue;
    findings.push_back({Level::warning, fmt::format("{}: minSessionTimeout {} is less than two ticks of {}",
                                                    to_string(server.server), *least, *tick)});
  }
  if (voters && *voters > 0 && *voters % 2 == 0) {
    findings.push_back({Level::warning, fmt::format("{} voters are an even number: no more of them may fail than of {}",
                                                    *voters, *voters - 1)});
  }
  return findings;
}

Finding judge_probe(const Probe& probe) {
  if (!probe.trouble.empty()) return {Level::critical, fmt::format("probe: {}", probe.trouble)};
  return {Level::ok, fmt::format("probe: {} taken in {}, given back in {}", probe.path, format_duration(probe.taken),
                                 format_duration(probe.released))};
}

}  // namespace zklock::command
