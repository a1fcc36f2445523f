// SPDX-License-Identifier: Apache-2.0
// zklock group wait: until enough have come, or gone.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"

namespace zklock::command {

class GroupWait {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupWait(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Returns 0 when there are.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  Value at_least_;
  Value at_most_;
  Value timeout_;
};

}  // namespace zklock::command
