// SPDX-License-Identifier: Apache-2.0
// How bad it is, and what of it the user has set the limits of. Pure.
#pragma once

#include "base/time.h"
#include "command/health/server_health.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

enum class Level { ok = 0, warning = 1, critical = 2, unknown = 3 };  // the exit status, as monitoring plugins have it

const char* name_of(Level level);

struct Probe {
  std::string path;
  Duration taken{};     // to take the lock, connecting included
  Duration released{};  // to give it back
  std::string trouble;  // why it could not be taken or given back
};

struct Thresholds {
  std::optional<Duration> latency;  // average
  std::optional<int64_t> outstanding;
  std::optional<int64_t> servers;  // that serve
};

struct Finding {
  Level level;
  std::string text;
};

// What is beyond the thresholds, `serving` of `servers` that serve.
std::vector<Finding> check_limits(const std::vector<ServerHealth>& servers, int64_t serving,
                                  const Thresholds& thresholds);

// What of the servers' settings makes locks less safe than they could be, as far as conf tells: limits of the session
// timeout that differ, a least one of less than two ticks, an even number of voters.
std::vector<Finding> check_settings(const std::vector<ServerHealth>& servers, std::optional<int64_t> voters);

Finding judge_probe(const Probe& probe);

}  // namespace zklock::command
