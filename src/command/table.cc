// SPDX-License-Identifier: Apache-2.0
#include "command/table.h"

#include "base/text.h"

#include <algorithm>

namespace zklock::command {

namespace {

constexpr const char* kGap = "  ";

// In characters; those that are wider on a screen are not known here.
size_t width_of(const std::string& cell) {
  const auto characters = decode_utf8(cell);
  return characters ? characters->size() : cell.size();
}

}  // namespace

void Table::add(const std::vector<std::string>& cells) {
  std::vector<std::string> line;
  for (const std::string& cell : cells) line.push_back(cell.empty() ? "-" : printable(cell));
  lines_.push_back(std::move(line));
}

std::string Table::text() const {
  std::vector<size_t> widths(lines_.front().size());
  for (const auto& line : lines_) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string text;
  for (const auto& line : lines_) {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += line[i] + std::string(widths[i] - width_of(line[i]), ' ') + kGap;
    }
    text += line.back() + '\n';
  }
  return text;
}

}  // namespace zklock::command
