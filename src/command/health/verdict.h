// SPDX-License-Identifier: Apache-2.0
// Is the ensemble well? From what each of its servers said of itself. Pure.
#pragma once

#include "command/health/limits.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

struct HealthVerdict {
  Level level = Level::ok;
  std::optional<bool> quorum;      // nothing: nobody could be understood
  std::string summary;             // quorum or not, who leads, how many follow
  std::vector<Finding> findings;   // and what else there is to say
  std::string leader;              // empty: none of those asked
  std::optional<int64_t> voters;   // of the ensemble
  std::optional<int64_t> in_sync;  // voters, the leader included
  int64_t following = 0;
  int64_t serving = 0;               // of those asked
  std::vector<std::string> missing;  // those that do not serve
};

HealthVerdict judge_health(const std::vector<ServerHealth>& servers, const Thresholds& thresholds,
                           const std::optional<Probe>& probe);

}  // namespace zklock::command
