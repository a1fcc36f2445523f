// SPDX-License-Identifier: Apache-2.0
// How help looks: that of a subcommand fits a screen. The global options, which all have, are explained by the root's
// alone; the others only name them, in a line that begins with "Also".
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace zklock::command {

// The group of those options.
inline constexpr const char* kGlobalOptions = "Global options";

std::shared_ptr<CLI::FormatterBase> help_layout(std::string usage);

// All subcommands by purpose, which is the group that they are in, a line each. Those in the group "" are not shown.
std::string overview(const CLI::App& root);

}  // namespace zklock::command
