// SPDX-License-Identifier: Apache-2.0
// zklock break: have the holders of a lock let go of it.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/cli/subcommand.h"

#include <string>

namespace zklock::command {

class Break {
 public:
  // Adds the subcommand with its options to `root`.
  explicit Break(CLI::App& root);

  GlobalOptions& global() { return global_; }

  // Returns 0 when those who hold the lock now hold it no more. Only they are hit.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  std::string path(const Arguments& arguments) const;

  CLI::App* app_;
  GlobalOptions global_;
  Value timeout_;
  bool force_ = false;
  bool yes_ = false;
};

}  // namespace zklock::command
