// SPDX-License-Identifier: Apache-2.0
// Lines of cells in aligned columns, for people and for awk: one line each, two spaces between columns, no empty cell.
#pragma once

#include "host/colour.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::command {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : lines_{std::move(heads)} {}

  // As many cells as there are heads: text as it was read, shown escaped.
  void add(const std::vector<std::string>& cells);

  // The cells below the head `column` get the colour of what they say; their width is that without.
  void paint(size_t column, host::Colour (*colour_of)(const std::string& cell)) { painted_ = {column, colour_of}; }

  // Ends with a line end.
  std::string text() const;

 private:
  std::string shown(size_t line, size_t column) const;

  std::vector<std::vector<std::string>> lines_;
  std::optional<std::pair<size_t, host::Colour (*)(const std::string&)>> painted_;
};

}  // namespace zklock::command
