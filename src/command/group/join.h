// SPDX-License-Identifier: Apache-2.0
// zklock group join: be a member of a group.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"
#include "command/group/joining.h"

namespace zklock::command {

class GroupJoin {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupJoin(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Returns the command's status. Nothing is made in ZooKeeper before all of the input is known to be good.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  JoinOptions join_options(const Arguments& arguments) const;

  CLI::App* app_;
  GlobalOptions global_;
  Value name_;
  Value data_;
  Value data_file_;
  Value timeout_;
  bool unique_ = false;
};

}  // namespace zklock::command
