// SPDX-License-Identifier: Apache-2.0
#include "command/top/page.h"

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace zklock::command {

using host::Key;
using host::ScreenLine;

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

void TopPage::move_to_next_section() {
  if (sections_.empty()) return;
  const size_t next = (place().first + 1) % sections_.size();
  cursor_ = 0;
  for (size_t i = 0; i < next; ++i) cursor_ += sections_[i].rows.size();
  moved_ = cursor_ > 0;
}

std::optional<TopPage::Chosen> TopPage::chosen() const {
  if (sections_.empty()) return std::nullopt;
  const auto [section, row] = place();
  return Chosen{sections_[section].kind, sections_[section].rows[row].path};
}

std::vector<ScreenLine> TopPage::lines(size_t rows) {
  std::vector<ScreenLine> lines;
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

std::pair<size_t, size_t> TopPage::place() const {
  size_t section = 0;
  size_t row = cursor_;
  while (row >= sections_[section].rows.size()) row -= sections_[section++].rows.size();
  return {section, row};
}

// Returns how many rows of each section are shown. A section that needs less than its share leaves the rest to the
// others.
std::vector<size_t> TopPage::shares(size_t rows, bool spaced) const {
  std::vector<size_t> shares(sections_.size(), 0);
  if (sections_.empty()) return shares;
  const size_t heads = sections_.size() * (spaced ? 2 : 1);
  if (rows < heads + sections_.size() * kLeastOfSection) {
    const size_t here = place().first;
    shares[here] = std::min(sections_[here].rows.size(), std::max<size_t>(rows, 2) - 1);
    return shares;
  }
  // Each in turn takes one row, as long as it has more.
  for (size_t left = std::min(rows - heads, count()); left > 0;) {
    for (size_t i = 0; i < shares.size() && left > 0; ++i) {
      if (shares[i] == sections_[i].rows.size()) continue;
      ++shares[i];
      --left;
    }
  }
  return shares;
}

void TopPage::show(size_t index, size_t most, std::vector<ScreenLine>& lines) {
  const TopSection& section = sections_[index];
  size_t& first = first_[section.kind];
  first = std::min(first, section.rows.size() - most);
  const auto [here, cursor] = place();
  if (here == index && cursor < first) first = cursor;
  if (here == index && cursor >= first + most) first = cursor - most + 1;
  for (size_t row = first; row < first + most; ++row) {
    lines.push_back({section.rows[row].text, section.rows[row].colour, false, here == index && row == cursor});
  }
}

// --- details

void DetailPage::open(std::optional<TopPage::Chosen> row) {
  opened_ = std::move(row);
  detail_ = nullptr;
  scrolled_ = 0;
}

bool DetailPage::show(const TopPage::Chosen& of, TopDetail detail) {
  if (opened_ != of) return false;
  detail_ = std::move(detail);
  return true;
}

void DetailPage::take(Key key, size_t rows) {
  const auto back = [this](size_t lines) { scrolled_ -= std::min(scrolled_, lines); };
  if (key == Key::up) back(1);
  if (key == Key::down) ++scrolled_;
  if (key == Key::page_up) back(rows);
  if (key == Key::page_down) scrolled_ += rows;
  if (key == Key::home) scrolled_ = 0;
  if (key == Key::end) scrolled_ = SIZE_MAX / 2;
}

std::vector<ScreenLine> DetailPage::lines(size_t columns, size_t rows) {
  if (!detail_) return {{"reading"}};
  host::Display display;
  display.columns = columns;
  const std::string text = detail_(display);
  std::vector<std::string_view> all = split(text, '\n');
  if (all.size() > 1 && all.back().empty()) all.pop_back();
  // The head of the table does not scroll.
  const size_t below = std::max<size_t>(rows, 2) - 1;
  scrolled_ = std::min(scrolled_, all.size() - 1 - std::min(all.size() - 1, below));
  std::vector<ScreenLine> lines{{std::string(all.front()), host::Colour::none, true}};
  for (size_t i = 1 + scrolled_; i < all.size() && lines.size() < rows; ++i) lines.push_back({std::string(all[i])});
  return lines;
}

}  // namespace zklock::command
