// SPDX-License-Identifier: Apache-2.0
// zklock queue list: what is in a queue.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/queue/queue.h"

namespace zklock::command {

class QueueList {
 public:
  // Adds the subcommand with its options to `queue`.
  explicit QueueList(CLI::App& queue);

  GlobalOptions& global() { return global_; }

  // Prints a line for each item, in the order in which they are taken.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  size_t most() const;

  CLI::App* app_;
  GlobalOptions global_;
  Value count_;
  bool dead_ = false;
  bool json_ = false;
};

}  // namespace zklock::command
