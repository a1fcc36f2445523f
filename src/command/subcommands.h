// SPDX-License-Identifier: Apache-2.0
// All subcommands, and how each is started.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/command_line.h"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace zklock::command {

// With all options: `global` are those that stood before the subcommand.
using Start = std::function<int(const Arguments& arguments, GlobalOptions global, const host::Inherited& inherited,
                                Manner& manner)>;

// How to start each subcommand that does something; one that only has others below it does not.
using Starts = std::map<const CLI::App*, Start>;

// To make all options of all subcommands would take longer than the rest of a start. So only the subcommand that the
// first of `words` names is added to `root`; and where they name none all are, for the help and for a hint. Whether
// they did.
bool add_subcommands(CLI::App& root, std::span<const std::string> words, Starts& starts);

}  // namespace zklock::command
