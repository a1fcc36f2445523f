// SPDX-License-Identifier: Apache-2.0
// zklock group delete: an empty group is removed.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"

namespace zklock::command {

class GroupDelete {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupDelete(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Returns 0 when it is gone.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  bool force_ = false;
};

}  // namespace zklock::command
