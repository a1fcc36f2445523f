// SPDX-License-Identifier: Apache-2.0
// zklock queue requeue: what was given up on goes back into the queue.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueueRequeue {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueueRequeue(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Returns 0 when they are back, at the end of their priorities and with all attempts before them.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
};

}  // namespace zklock::command
