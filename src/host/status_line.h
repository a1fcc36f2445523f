// SPDX-License-Identifier: Apache-2.0
// One line on standard error, at a terminal, that is kept up to date while something takes long, and wiped in the end.
#pragma once

#include <string_view>

namespace zklock::host {

class StatusLine {
 public:
  StatusLine() = default;
  StatusLine(const StatusLine&) = delete;
  ~StatusLine() { wipe(); }

  // In place of what it showed before, cut to the terminal's width. Dropped if the terminal does not take it at once.
  void show(std::string_view text);
  void wipe();

 private:
  bool shown_ = false;
};

}  // namespace zklock::host
