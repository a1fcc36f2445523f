// SPDX-License-Identifier: Apache-2.0
// What Enter has opened: the details of a row, as text that can be scrolled below its first line.
#pragma once

#include "command/top/page.h"
#include "host/screen.h"
#include "host/terminal.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// Returns the details as text that fits a screen.
using TopDetail = std::function<std::string(const host::Display& display)>;

class DetailPage {
 public:
  // Opens a row, whose details are not read yet. Without one it closes the page.
  void open(std::optional<TopPage::Chosen> row);
  // The row; nothing: the page is closed.
  const std::optional<TopPage::Chosen>& opened() const { return opened_; }
  bool is_read() const { return detail_ != nullptr; }
  // Takes the details of `of`. Returns false, and drops them, if another row or none is open.
  bool show(const TopPage::Chosen& of, TopDetail detail);

  // Scrolls, if the key does that; `rows` are on the screen.
  void take(host::Key key, size_t rows);
  std::vector<host::ScreenLine> lines(size_t columns, size_t rows);

 private:
  std::optional<TopPage::Chosen> opened_;
  TopDetail detail_;     // nullptr before it is read
  size_t scrolled_ = 0;  // lines that are above the screen
};

}  // namespace zklock::command
