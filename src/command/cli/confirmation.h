// SPDX-License-Identifier: Apache-2.0
// The question to the person at the terminal, before something is done that cannot be undone.
#pragma once

#include <string>

namespace zklock::command {

// Throws a Failure (64) where there is no terminal to ask at.
void check_can_ask();

// Asks `question`, with "[y/N]" behind it; throws a Failure (1) for a no, which leaves `path` as it is. Takes as long
// as the person does, and the loop stands still: not with a session.
void confirm(const std::string& question, const std::string& path);

}  // namespace zklock::command
