// SPDX-License-Identifier: Apache-2.0
// What `queue pull -- COMMAND` was asked for.
#pragma once

#include "command/queue/item_command.h"
#include "command/queue/pull_options.h"

namespace zklock::command {

struct WorkOptions {
  static constexpr Duration kUsualRetryDelay = std::chrono::seconds(1);

  PullOptions pull;
  ItemCommand command;
  size_t jobs = 1;
  int64_t most_attempts = 5;
  Duration retry_delay = kUsualRetryDelay;
  bool halt = false;  // the first failure is the last
};

}  // namespace zklock::command
