// SPDX-License-Identifier: Apache-2.0
// zklock group create: a group that stays when nobody is in it.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"

namespace zklock::command {

class GroupCreate {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupCreate(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Returns 0 when there is one.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
};

}  // namespace zklock::command
