// SPDX-License-Identifier: Apache-2.0
// All subcommands, and how each is started.
#pragma once

#include "command/cli/subcommand.h"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace zklock::command {

// How a subcommand that does something is started.
struct Start {
  Execute execute;
  std::shared_ptr<GlobalOptions> global;  // those behind the subcommand
};

using Starts = std::map<const CLI::App*, Start>;

// To make all options of all subcommands would take longer than the rest of a start. So only the subcommand that the
// first of `words` names is added to `root`; and where they name none all are, for the help and for a hint. Whether
// they did.
bool add_subcommands(CLI::App& root, std::span<const std::string> words, Starts& starts);

}  // namespace zklock::command
