// SPDX-License-Identifier: Apache-2.0
// zklock help: the commands by purpose, or the --help of one.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"

namespace zklock::command {

class Help {
 public:
  // Adds the subcommand to `root`, of which it tells.
  explicit Help(CLI::App& root);

  GlobalOptions& global() { return global_; }

  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  const CLI::App& root_;
  CLI::App* app_;
  GlobalOptions global_;
};

}  // namespace zklock::command
