// SPDX-License-Identifier: Apache-2.0
// What zklock writes on its node for people to read: a JSON object with host, pid, user, command, label and since. And
// what it makes of such a note, or of whatever else it finds on somebody's node.
#pragma once

#include "recipe/lock.h"

#include <string>

namespace zklock::command {

// `command`: the program's name only; its arguments may hold secrets. `label`: what the user wants to be read.
std::string make_note(const std::string& command, const std::string& label);

// "held by web1 (pid 4121) for 3m"; with other people's text, "held by 'text' for 3m". One line, safe to print.
std::string describe_holder(const recipe::Holder& holder);

}  // namespace zklock::command
