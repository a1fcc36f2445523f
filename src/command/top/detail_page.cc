// SPDX-License-Identifier: Apache-2.0
#include "command/top/detail_page.h"

#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace zklock::command {

using host::Key;
using host::ScreenLine;

void DetailPage::open(std::optional<TopPage::Chosen> row) {
  opened_ = std::move(row);
  detail_ = nullptr;
  scrolled_ = 0;
}

bool DetailPage::show(const TopPage::Chosen& of, TopDetail detail) {
  if (!opened_ || opened_->path != of.path || opened_->kind != of.kind) return false;
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
