// SPDX-License-Identifier: Apache-2.0
// Colours for people at a terminal: whether there may be any, and how they are put into text.
#pragma once

#include <string>
#include <string_view>

namespace zklock::host {

enum class Colour { none, red, yellow, green };

enum class Colours { off, on };

// Whether what is written to the descriptor `fd` may have colours: it is a terminal, NO_COLOR (https://no-color.org) is
// not set or empty, and TERM names a terminal that is not dumb.
Colours colours_on(int fd);

// `text` in bold and `colour`; as it is with none.
std::string in_colour(std::string_view text, Colour colour);

}  // namespace zklock::host
