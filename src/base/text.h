// SPDX-License-Identifier: Apache-2.0
// Text that comes from people and from ZooKeeper: is it valid, how is it shown safely, what was probably meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock {

// UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// The characters of `text`, nothing if it is not UTF-8.
std::optional<std::u32string> decode_utf8(std::string_view text);

// ASCII and C1 control characters.
bool is_control(char32_t character);

// `text` with control characters, those that are not seen (of no width, or for the direction of writing) and bytes that
// are not UTF-8 as \xNN, so that nothing read from ZooKeeper can steer a terminal, fake a second line or another name.
std::string printable(std::string_view text);

// At most `most` bytes of `text`, cut between characters, with "…" where something is missing.
std::string shorten(std::string_view text, size_t most);

// RFC 4648, section 4, with padding.
std::string base64(std::string_view bytes);

// "1 item", "3 items".
std::string counted(int64_t number, std::string_view noun);

// A decimal number without sign, all of `text`; nothing if it does not fit.
std::optional<int64_t> parse_number(std::string_view text);

// Digits with at most one point and at least one digit ("5", "0.5", ".5", "5."), all of `text`.
std::optional<double> parse_decimal(std::string_view text);

// A finite number as programs write it ("-1", "0.75", "1.2E7"), all of `text`.
std::optional<double> parse_real(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);

// The candidate that `word` is most likely a slip for; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace zklock
