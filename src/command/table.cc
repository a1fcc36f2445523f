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
  for (size_t n = 0; n < lines_.size(); ++n) {
    const auto& line = lines_[n];
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += shown(n, i) + std::string(widths[i] - width_of(line[i]), ' ') + kGap;
    }
    text += shown(n, line.size() - 1) + '\n';
  }
  return text;
}

std::string Table::shown(size_t line, size_t column) const {
  const std::string& cell = lines_[line][column];
  if (line == 0 || !painted_ || painted_->first != column) return cell;
  return host::in_colour(cell, painted_->second(cell));
}

}  // namespace zklock::command
