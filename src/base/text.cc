// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

namespace zklock {

namespace {

constexpr size_t kLongestGuessed = 64;

// Returns how long a character is that begins with `lead`, and the smallest code point that needs this length. Returns
// 0 for the length if no character begins so.
std::pair<size_t, char32_t> sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, 0};
  if (lead >= 0xc2 && lead < 0xe0) return {2, 0x80};
  if (lead >= 0xe0 && lead < 0xf0) return {3, 0x800};
  if (lead >= 0xf0 && lead < 0xf5) return {4, 0x10000};
  return {0, 0};
}

// Returns the length of the valid character that `text` begins with, and stores the character; returns 0 if there is
// none.
size_t take_character(std::string_view text, char32_t& character) {
  const auto [length, lowest] = sequence_of(static_cast<unsigned char>(text[0]));
  if (length == 0 || length > text.size()) return 0;
  character = static_cast<unsigned char>(text[0]) & (length == 1 ? 0x7fu : 0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte & 0x3fu);
  }
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < lowest || surrogate || character > 0x10ffff ? 0 : length;
}

// This does not use std::from_chars: for a double, that would load libm at each start.
std::optional<double> finite_number(std::string_view text) {
  const std::string terminated(text);
  char* end = nullptr;
  const double number = std::strtod(terminated.c_str(), &end);
  const bool all = !text.empty() && end == terminated.c_str() + terminated.size();
  return all && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Two swapped letters count as one edit, like any other typing error.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

// Returns true if the character takes no space on a screen, or changes the order of the text around it. Such a
// character makes one text look like another.
bool is_unseen(char32_t character) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},  {0x200b, 0x200f},
      {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  return std::ranges::any_of(kRanges,
                             [&](const auto& range) { return character >= range.first && character <= range.second; });
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_utf8(std::string_view text) {
  return decode_utf8(text).has_value();
}

std::optional<std::u32string> decode_utf8(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    char32_t character = 0;
    const size_t length = take_character(text, character);
    if (length == 0) return std::nullopt;
    characters += character;
    text.remove_prefix(length);
  }
  return characters;
}

bool is_control(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

std::string printable(std::string_view text) {
  std::string shown;
  char32_t character = 0;
  while (!text.empty()) {
    const size_t length = take_character(text, character);
    const size_t taken = std::max<size_t>(1, length);
    if (length > 0 && !is_control(character) && !is_unseen(character)) {
      shown += text.substr(0, taken);
    } else {
      for (const char byte : text.substr(0, taken)) shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
    }
    text.remove_prefix(taken);
  }
  return shown;
}

std::string shorten(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t cut = most;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return std::string(text.substr(0, cut)) + "…";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = i; j < i + 3; ++j) three = three << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0U);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text += kDigits[three >> shift & 63U];
  }
  const size_t missing = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - missing, missing, missing, '=');
  return text;
}

std::optional<int64_t> parse_number(std::string_view text) {
  int64_t number = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> parse_decimal(std::string_view text) {
  const bool allowed = text.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool digit = text.find_first_of("0123456789") != std::string_view::npos;
  if (!allowed || !digit || std::count(text.begin(), text.end(), '.') > 1) return std::nullopt;
  return finite_number(text);
}

std::optional<double> parse_real(std::string_view text) {
  const bool allowed = text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  return allowed && !text.starts_with('+') ? finite_number(text) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  const size_t length = word.size() - dashes;
  // Nearly every word of one or two letters is similar to some candidate, so a guess would be worth nothing.
  if (length < 3 || length > kLongestGuessed || !is_letter(word[dashes])) return "";
  std::string best;
  size_t best_distance = 1 + length / 3;  // one edit for every three letters
  for (const std::string& candidate : candidates) {
    const bool begun = candidate.starts_with(word);
    const size_t distance = begun ? 0 : edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace zklock
