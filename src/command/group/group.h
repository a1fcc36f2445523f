// SPDX-License-Identifier: Apache-2.0
// zklock group: its subcommands, and what they share: the group that is named on the command line, and the text for
// members. The text is safe to print, whatever was read.
#pragma once

#include "command/cli/format.h"
#include "command/cli/subcommand.h"
#include "recipe/group/roster.h"

#include <optional>
#include <string>

namespace zklock::command {

Execute add_group(CLI::App& app, GlobalOptions& global);
Execute add_group_join(CLI::App& app, GlobalOptions& global);
Execute add_group_list(CLI::App& app, GlobalOptions& global);
Execute add_group_watch(CLI::App& app, GlobalOptions& global);
Execute add_group_wait(CLI::App& app, GlobalOptions& global);
Execute add_group_create(CLI::App& app, GlobalOptions& global);
Execute add_group_delete(CLI::App& app, GlobalOptions& global);

inline constexpr PathOperand kGroupPath{"group", "/groups/web"};

// Returns the members of `group`: their names, one a line, or JSON, an object a line, or their number for Prometheus.
std::string text_of(const std::string& group, const recipe::Members& members, Format format);

// Returns the members as a table that fits `columns`, if given; "" without members.
std::string table_of(const std::string& group, const recipe::Members& members, std::optional<size_t> columns = {});

// Returns a line for `change`, in JSON or not. `members` are those after the change; a member that has joined is among
// them.
std::string text_of(const std::string& group, const recipe::MemberChange& change, const recipe::Members& members,
                    bool json);

}  // namespace zklock::command
