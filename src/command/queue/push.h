// SPDX-License-Identifier: Apache-2.0
// zklock queue push: put items into a queue.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/pushing.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueuePush {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueuePush(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Returns 0 when all items are in.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  PushOptions push_options(const Arguments& arguments) const;
  int priority() const;

  CLI::App* app_;
  GlobalOptions global_;
  Value priority_;
  bool nul_ = false;
  bool whole_ = false;
};

}  // namespace zklock::command
