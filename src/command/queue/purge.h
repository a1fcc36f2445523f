// SPDX-License-Identifier: Apache-2.0
// zklock queue purge: what is in a queue is thrown away.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueuePurge {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueuePurge(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Returns 0 when they are gone; says how many are left because somebody works on them.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  bool dead_ = false;
  bool yes_ = false;
};

}  // namespace zklock::command
