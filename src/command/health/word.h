// SPDX-License-Identifier: Apache-2.0
// zklock ruok, stat, srvr, mntr and 4lw: a four-letter word, asked of servers.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"
#include "command/health/words.h"

#include <string>
#include <vector>

namespace zklock::command {

class Word {
 public:
  // Adds the subcommand `name` with its options to `root`.
  Word(CLI::App& root, const char* name);

  GlobalOptions& global() { return global_; }

  // Prints the replies, and on standard error a line for each server that gave none.
  int execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
              ExitPolicy& policy) const;

 private:
  std::string take_word(std::vector<std::string>& operands) const;
  std::vector<Asked> ask(const std::vector<zk::Server>& servers, const std::string& word, bool verbose) const;
  std::string shown(const std::vector<Asked>& asked) const;

  std::string name_;
  CLI::App* app_;
  GlobalOptions global_;
  Value timeout_;
  bool json_ = false;
};

}  // namespace zklock::command
