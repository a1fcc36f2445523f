// SPDX-License-Identifier: Apache-2.0
// zklock queue delete: an empty queue is removed.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueueDelete {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueueDelete(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Returns 0 when there is no such queue any more.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  bool yes_ = false;
};

}  // namespace zklock::command
