// SPDX-License-Identifier: Apache-2.0
// zklock group watch: who comes and goes.
#pragma once

#include "command/cli/options.h"
#include "command/cli/subcommand.h"
#include "command/group/group.h"

namespace zklock::command {

class GroupWatch {
 public:
  // Adds the subcommand with its options to `group`.
  explicit GroupWatch(CLI::App& group);

  GlobalOptions& global() { return global_; }

  // Ends by a signal, or when nobody reads its output any more.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  CLI::App* app_;
  GlobalOptions global_;
  bool json_ = false;
};

}  // namespace zklock::command
