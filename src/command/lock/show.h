// SPDX-License-Identifier: Apache-2.0
// zklock show: who holds a lock and who waits for it.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"
#include "recipe/lock/survey.h"

#include <string>
#include <vector>

namespace zklock::command {

class Show {
 public:
  // Adds the subcommand with its options to `root`.
  explicit Show(CLI::App& root);

  GlobalOptions& global() { return global_; }

  // Prints what it finds; with --quiet the status alone says whether the lock is held. Changes nothing in ZooKeeper.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              Manner& manner) const;

 private:
  std::vector<std::string> paths(const Arguments& arguments, bool quiet) const;
  std::vector<recipe::Survey> look(const std::vector<std::string>& paths, const GlobalOptions& global) const;

  CLI::App* app_;
  GlobalOptions global_;
  bool recursive_ = false;
  bool json_ = false;
};

}  // namespace zklock::command
