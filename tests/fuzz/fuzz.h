// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target is a file of this folder: libFuzzer calls it with input after input, and it
// aborts where something does not hold. Its first inputs are the lines of NAME.seeds, "\n" and the like taken as printf
// takes them.
#pragma once

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace zklock::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Several texts in one input.
inline std::vector<std::string> pieces_of(std::string_view input, char separator = '\1') {
  const auto pieces = split(input, separator);
  return {pieces.begin(), pieces.end()};
}

inline void check(bool holds, std::string_view what, std::string_view text = "") {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}: '{}'\n", what, printable(text));
  std::abort();
}

// What was read cannot steer a terminal; nor, on one line, fake a second one.
inline bool is_safe_line(std::string_view text) {
  const auto characters = decode_utf8(text);
  return characters && std::none_of(characters->begin(), characters->end(), is_control);
}

inline bool is_safe_text(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::all_of(lines.begin(), lines.end(), is_safe_line);
}

}  // namespace zklock::fuzz
