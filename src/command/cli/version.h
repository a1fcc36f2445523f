// SPDX-License-Identifier: Apache-2.0
// What -V prints: zklock's version alone on the first line, then the C client's, then how this program was built.
#pragma once

#include <string>

namespace zklock::command {

// Ends with a line break. Nothing in it depends on who built the program, where or when: builds stay reproducible.
std::string version_text();

}  // namespace zklock::command
