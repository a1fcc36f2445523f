// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target is a file of this folder: libFuzzer calls it with many inputs, and it aborts if
// something does not hold. Its first inputs are the lines of NAME.seeds, with "\n" and the like as printf takes them.
#pragma once

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace zklock::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Splits the input into several texts.
inline std::vector<std::string> pieces_of(std::string_view input, char separator = '\1') {
  const auto pieces = split(input, separator);
  return {pieces.begin(), pieces.end()};
}

// Returns a number from the first eight bytes, and the rest.
inline std::pair<int64_t, std::string> moment_and_text(std::string_view input) {
  const std::string_view bytes = input.substr(0, 8);
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return {static_cast<int64_t>(number), std::string(input.substr(bytes.size()))};
}

inline void check(bool holds, std::string_view what, std::string_view text = "") {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}: '{}'\n", what, printable(text));
  std::abort();
}

// True if the text cannot steer a terminal and, being one line, cannot fake a second one. It checks bytes, to find a
// bug in is_control too: U+0080 to U+009F begin with 0xc2.
inline bool is_safe_line(std::string_view text) {
  unsigned char before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (before == 0xc2 && byte < 0xa0)) return false;
    before = byte;
  }
  return is_utf8(text);
}

inline bool is_safe_text(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::all_of(lines.begin(), lines.end(), is_safe_line);
}

}  // namespace zklock::fuzz
