// SPDX-License-Identifier: Apache-2.0
// What people type who know other tools, and what it is called here. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace zklock::command {

using Has = std::function<bool(std::string_view name)>;  // whether the command has that option, or subcommand

// What to say to an option of other tools, like "write -w DUR or --timeout DUR"; empty where there is no answer.
std::string answer_to_option(std::string_view option, const Has& has);

// The same for a word in the place of a command of zklock itself.
std::string answer_to_command(std::string_view word);

// For one behind a command that has others below it, like queue: the name of the one that is meant; empty where none
// is.
std::string command_meant(std::string_view word, const Has& has);

}  // namespace zklock::command
