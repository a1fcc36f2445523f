// SPDX-License-Identifier: Apache-2.0
// zklock group list: who is in a group.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"

namespace zklock::command {

class GroupList {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupList(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Prints a line for each member.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  Value at_least_;
  bool long_ = false;
  bool json_ = false;
};

}  // namespace zklock::command
