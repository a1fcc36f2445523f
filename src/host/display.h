// SPDX-License-Identifier: Apache-2.0
// What the terminal behind a descriptor can show.
#pragma once

#include "host/colour.h"

#include <cstddef>
#include <optional>

namespace zklock::host {

struct Display {
  Colours colours = Colours::off;
  std::optional<size_t> columns = {};  // nothing: it is no terminal, or does not tell
};

// Of `fd` as it is now; a window may be resized.
Display display_of(int fd);

}  // namespace zklock::host
