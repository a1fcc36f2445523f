// SPDX-License-Identifier: Apache-2.0
// zklock value: its subcommands, and what they share: the node that is named on the command line, and the text for a
// value.
#pragma once

#include "command/cli/subcommand.h"
#include "recipe/value/change.h"

#include <cstdint>
#include <string>

namespace zklock::command {

Execute add_value_commands(CLI::App& app, GlobalOptions& global);
Execute add_value_get(CLI::App& app, GlobalOptions& global);
Execute add_value_set(CLI::App& app, GlobalOptions& global);
Execute add_value_delete(CLI::App& app, GlobalOptions& global);
Execute add_value_list(CLI::App& app, GlobalOptions& global);
Execute add_value_watch(CLI::App& app, GlobalOptions& global);
Execute add_value_wait(CLI::App& app, GlobalOptions& global);

inline constexpr PathOperand kValuePath{"node", "/app/config"};
// For reading: any node is allowed, the root and /zookeeper too.
inline constexpr PathOperand kPathToRead{"node", "/app/config", zk::check_path_to_read};

// Returns the version in `text`. Throws a Failure (64) that names `option` if that is none.
int32_t version_of(const std::string& text, const char* option);

// Returns the Failure (1) for a node that does not exist. `tried`: "cannot get /v".
Failure no_such_node(const std::string& tried);

// Does nothing if the change was done. Otherwise throws the Failure for it: 1, 65, 69, 75 or 76.
void check_end(const recipe::ChangeResult& result, const std::string& tried);

// Returns a name as a line; with `nul`, as it is, ended by NUL.
std::string name_line(const std::string& name, bool nul);

// Returns a JSON object on a line for a node that was read: path, exists and, if so, value (value_base64 if the bytes
// are not UTF-8), version, changed (RFC 3339, UTC).
std::string json_of(const std::string& path, const zk::Answer& node);

}  // namespace zklock::command
