// SPDX-License-Identifier: Apache-2.0
// zklock queue count: how much is in a queue.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueueCount {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueueCount(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Prints a number a line. A queue that does not exist has nothing in it.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  bool exact_ = false;
  bool json_ = false;
};

}  // namespace zklock::command
