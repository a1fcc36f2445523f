// SPDX-License-Identifier: Apache-2.0
// zklock group: what its subcommands share on the command line.
#pragma once

#include "command/cli/arguments.h"
#include "command/cli/options.h"

#include <optional>
#include <string>

namespace zklock::command {

// Adds it to `root`; the subcommands are added to what it returns.
CLI::App& add_group(CLI::App& root);

// The one group that is named among the words of `app`. Throws a Failure (64) for a bad one.
std::string group_path(const CLI::App& app, const Arguments& arguments);

// The same where what stands behind "--" is a command.
std::string group_before_command(const CLI::App& app, const Arguments& arguments);

// A number of members; nothing if it was not given. Throws a Failure (64) that names the `option`.
std::optional<size_t> member_count(const Value& value, const char* option);

// "1 member", "2 members".
std::string members_are(size_t count);

}  // namespace zklock::command
