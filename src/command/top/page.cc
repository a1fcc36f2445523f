// SPDX-License-Identifier: Apache-2.0
#include "command/top/page.h"

#include <algorithm>

namespace zklock::command {

namespace {

constexpr size_t kSpacious = 20;       // from so many rows on, each section has an empty line before it
constexpr size_t kLeastOfSection = 2;  // rows, without its head

}  // namespace

void TopPage::set(std::vector<TopSection> sections) {
  const auto before = moved_ ? chosen() : std::nullopt;
  sections_ = std::move(sections);
  cursor_ = std::min(cursor_, std::max<size_t>(count(), 1) - 1);
  if (!before) return;
  size_t index = 0;
  for (const TopSection& section : sections_) {
    for (const TopRow& row : section.rows) {
      if (section.kind == before->kind && row.path == before->path) cursor_ = index;
      ++index;
    }
  }
}

void TopPage::move(ptrdiff_t rows) {
  const auto last = static_cast<ptrdiff_t>(count()) - 1;
  cursor_ = static_cast<size_t>(
      std::clamp<ptrdiff_t>(static_cast<ptrdiff_t>(cursor_) + rows, 0, std::max<ptrdiff_t>(last, 0)));
  moved_ = cursor_ > 0;
}

void TopPage::move_to_end(bool last) {
  const auto rows = static_cast<ptrdiff_t>(count());
  move(last ? rows : -rows);
}

void TopPage::move_to_next_section() {
  if (sections_.empty()) return;
  const size_t next = (place().section + 1) % sections_.size();
  cursor_ = 0;
  for (size_t i = 0; i < next; ++i) cursor_ += sections_[i].rows.size();
  moved_ = cursor_ > 0;
}

std::optional<TopPage::Chosen> TopPage::chosen() const {
  if (sections_.empty()) return std::nullopt;
  const auto [section, row] = place();
  return Chosen{sections_[section].kind, sections_[section].rows[row].path};
}

std::vector<host::ScreenLine> TopPage::lines(size_t rows) {
  std::vector<host::ScreenLine> lines;
  const bool spaced = rows >= kSpacious;
  const std::vector<size_t> parts = shares(rows, spaced);
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (parts[i] == 0) continue;
    if (spaced) lines.emplace_back();
    lines.push_back({sections_[i].head, host::Colour::none, true});
    show(i, parts[i], lines);
  }
  if (lines.size() > rows) lines.resize(rows);
  return lines;
}

size_t TopPage::count() const {
  size_t count = 0;
  for (const TopSection& section : sections_) count += section.rows.size();
  return count;
}

TopPage::RowPlace TopPage::place() const {
  RowPlace place{0, cursor_};
  while (place.row >= sections_[place.section].rows.size()) place.row -= sections_[place.section++].rows.size();
  return place;
}

// Returns how many rows of each section are shown. A section that needs less than its share leaves the rest to the
// others.
std::vector<size_t> TopPage::shares(size_t rows, bool spaced) const {
  std::vector<size_t> shares(sections_.size(), 0);
  if (sections_.empty()) return shares;
  const size_t heads = sections_.size() * (spaced ? 2 : 1);
  if (rows < heads + sections_.size() * kLeastOfSection) {
    const size_t here = place().section;
    shares[here] = std::min(sections_[here].rows.size(), std::max<size_t>(rows, 2) - 1);
    return shares;
  }
  for (size_t left = rows - heads; left > 0;) {
    size_t wanting = 0;
    for (size_t i = 0; i < shares.size(); ++i)
      if (shares[i] < sections_[i].rows.size()) ++wanting;
    if (wanting == 0) break;
    const size_t part = std::max<size_t>(left / wanting, 1);
    for (size_t i = 0; i < shares.size() && left > 0; ++i) {
      const size_t more = std::min({part, sections_[i].rows.size() - shares[i], left});
      shares[i] += more;
      left -= more;
    }
  }
  return shares;
}

void TopPage::show(size_t index, size_t most, std::vector<host::ScreenLine>& lines) {
  const TopSection& section = sections_[index];
  size_t& first = first_[section.kind];
  first = std::min(first, section.rows.size() - most);
  const RowPlace cursor = place();
  const bool here = cursor.section == index;
  if (here && cursor.row < first) first = cursor.row;
  if (here && cursor.row >= first + most) first = cursor.row - most + 1;
  for (size_t row = first; row < first + most; ++row) {
    lines.push_back({section.rows[row].text, section.rows[row].colour, false, here && row == cursor.row});
  }
}

}  // namespace zklock::command
