// SPDX-License-Identifier: Apache-2.0
// Text that comes from people and from ZooKeeper: whether it is valid, how to show it safely, what was probably meant.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace zklock {

// Returns whether `text` is UTF-8 as in RFC 3629: shortest forms only, no surrogates, no character above U+10FFFF.
bool is_utf8(std::string_view text);

// Returns the characters of `text`; no value if it is not UTF-8.
std::optional<std::u32string> decode_utf8(std::string_view text);

// Returns true for ASCII and C1 control characters.
bool is_control(char32_t character);

// Returns `text` with some bytes written as \xNN: control characters, invisible ones (of no width, or for the writing
// direction) and bytes that are not UTF-8. So text from ZooKeeper cannot steer a terminal, fake a second line or look
// like another name.
std::string printable(std::string_view text);

// Returns at most `most` bytes of `text`, cut between characters, and "…" if something is missing.
std::string shorten(std::string_view text, size_t most);

// Encodes `bytes` as in RFC 4648, section 4, with padding.
std::string base64(std::string_view bytes);

// Returns the number with its noun: "1 item", "3 items".
template <std::integral Number>
std::string counted(Number number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// Parses all of `text` as a decimal number without a sign; no value if it is none, or does not fit.
std::optional<int64_t> parse_number(std::string_view text);

// Parses all of `text` as digits with at most one point and at least one digit ("5", "0.5", ".5", "5.").
std::optional<double> parse_decimal(std::string_view text);

// Parses all of `text` as a finite number as programs write it ("-1", "0.75", "1.2E7").
std::optional<double> parse_real(std::string_view text);

// Returns `text` without the blanks and line ends around it.
std::string_view trimmed(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);

// Returns the candidate that was probably meant by `word`; empty if none is similar enough.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Returns a variable of the environment; empty if it is not set.
std::string environment(const char* variable);

}  // namespace zklock
