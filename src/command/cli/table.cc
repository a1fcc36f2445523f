// SPDX-License-Identifier: Apache-2.0
#include "command/cli/table.h"

#include "base/contains.h"
#include "base/text.h"

#include <algorithm>
#include <numeric>

namespace zklock::command {

namespace {

using Heads = std::vector<std::string_view>;

constexpr std::string_view kGap = "  ";

// The widths to which cells may be shortened. The first column keeps more, because it says what a line is about.
constexpr size_t kLeastFirst = 20;
constexpr size_t kLeast = 12;

// Returns the width in characters. Characters that are wider on a screen are not known here.
size_t width_of(const std::string& cell) {
  const auto characters = decode_utf8(cell);
  return characters ? characters->size() : cell.size();
}

size_t sum_of(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap.size() * (widths.size() - 1));
}

// Shrinks the widest columns first, none below `least`, until all together fit into `columns`.
void shrink(std::vector<size_t>& widths, const std::vector<size_t>& least, size_t columns) {
  for (size_t sum = sum_of(widths); sum > columns; --sum) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

std::string cut(const std::string& cell, size_t width) {
  if (width_of(cell) <= width) return cell;
  size_t end = 0;
  for (size_t characters = 0; end < cell.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(cell[end]) & 0xc0) != 0x80;
    if (begins && ++characters == width) break;
  }
  return cell.substr(0, end) + "…";
}

}  // namespace

void Table::add(const std::vector<std::string>& cells) {
  std::vector<std::string> line;
  for (const std::string& cell : cells) line.push_back(cell.empty() ? "-" : printable(cell));
  lines_.push_back(std::move(line));
}

void Table::paint(std::string_view head, host::Colour (*colour_of)(const std::string& cell)) {
  painted_ = head;
  colour_of_ = colour_of;
}

void Table::fit(size_t columns, const Yielding& yielding) {
  keep(heads_for(columns, yielding));
  std::vector<size_t> fitting = widths();
  shrink(fitting, least_widths(yielding), columns);
  for (auto& line : lines_) {
    for (size_t i = 0; i < line.size(); ++i) line[i] = cut(line[i], fitting[i]);
  }
}

// Returns the heads for which there is room, chosen from the most important one on.
std::vector<std::string> Table::heads_for(size_t columns, const Yielding& yielding) const {
  const std::vector<size_t> least = least_widths(yielding);
  Heads by_importance(yielding.left_out.rbegin(), yielding.left_out.rend());
  std::stable_partition(by_importance.begin(), by_importance.end(), [&](std::string_view head) {
    const auto column = find(head);
    return column && !says_nothing(*column);
  });
  std::vector<std::string> kept;
  size_t width = 0;
  for (size_t i = 0; i < least.size(); ++i) {
    if (contains(yielding.left_out, heads()[i])) continue;
    kept.push_back(heads()[i]);
    width += least[i] + kGap.size();
  }
  for (const std::string_view head : by_importance) {
    const auto column = find(head);
    if (!column || width + least[*column] > columns) continue;
    kept.emplace_back(head);
    width += least[*column] + kGap.size();
  }
  return kept;
}

void Table::keep(const std::vector<std::string>& heads) {
  for (size_t i = lines_.front().size(); i-- > 0;) {
    if (contains(heads, lines_.front()[i])) continue;
    for (auto& line : lines_) line.erase(line.begin() + static_cast<ptrdiff_t>(i));
  }
}

std::optional<size_t> Table::find(std::string_view head) const {
  const auto found = std::find(heads().begin(), heads().end(), head);
  if (found == heads().end()) return std::nullopt;
  return static_cast<size_t>(found - heads().begin());
}

bool Table::says_nothing(size_t column) const {
  return std::all_of(lines_.begin() + 1, lines_.end(), [&](const auto& line) { return line[column] == "-"; });
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths(lines_.front().size());
  for (const auto& line : lines_) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  return widths;
}

std::vector<size_t> Table::least_widths(const Yielding& yielding) const {
  std::vector<size_t> least = widths();
  for (size_t i = 0; i < least.size(); ++i) {
    if (contains(yielding.shortened, lines_.front()[i])) least[i] = std::min(least[i], i == 0 ? kLeastFirst : kLeast);
  }
  return least;
}

std::string Table::text() const {
  const std::vector<size_t> widths = this->widths();
  std::string text;
  for (size_t n = 0; n < lines_.size(); ++n) {
    const auto& line = lines_[n];
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += shown(n, i) + std::string(widths[i] - width_of(line[i]), ' ');
      text += kGap;
    }
    text += shown(n, line.size() - 1) + '\n';
  }
  return text;
}

std::string Table::shown(size_t line, size_t column) const {
  const std::string& cell = lines_[line][column];
  if (line == 0 || lines_.front()[column] != painted_) return cell;
  return host::in_colour(cell, colour_of_(cell));
}

void add_long_option(CLI::App& app, bool& long_form) {
  add_flag(app, "-l,--long", long_form, "All columns, even if the terminal is narrower");
}

}  // namespace zklock::command
