// SPDX-License-Identifier: Apache-2.0
// Lines of cells in aligned columns, for people and for awk: one line each, two spaces between columns, no empty cell.
#pragma once

#include "host/terminal.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::command {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : lines_{std::move(heads)} {}

  // As many cells as there are heads: text as it was read, shown escaped.
  void add(const std::vector<std::string>& cells);

  // The cells below `head` get the colour of what they say; their width is that without.
  void paint(std::string_view head, host::Colour (*colour_of)(const std::string& cell));

  // What gives way where there is no room, by heads.
  struct Yielding {
    std::vector<std::string_view> left_out;   // one after the other, in this order
    std::vector<std::string_view> shortened;  // cells, with "…"; never to less than can be made sense of
  };
  // After the last add: lines of at most `columns` characters, as far as `yielding` has it.
  void fit(size_t columns, const Yielding& yielding);

  // Ends with a line end.
  std::string text() const;

 private:
  std::vector<size_t> widths() const;
  std::vector<size_t> least_widths(const Yielding& yielding) const;
  void leave_out(std::string_view head);
  std::string shown(size_t line, size_t column) const;

  std::vector<std::vector<std::string>> lines_;
  std::string_view painted_;
  host::Colour (*colour_of_)(const std::string& cell) = nullptr;
};

}  // namespace zklock::command
