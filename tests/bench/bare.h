// SPDX-License-Identifier: Apache-2.0
// The subcommands of `bare`. Each has a source of its own, whose head describes it.
#pragma once

#include <string>
#include <vector>

namespace bare {

using Words = std::vector<std::string>;

// Each gets the words after its name. It returns false, and does nothing, if they are wrong.
bool lock(const Words& words);
bool push(const Words& words);
bool drain(const Words& words);
bool value(const Words& words);
bool crowd(const Words& words);

}  // namespace bare
