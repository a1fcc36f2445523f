// SPDX-License-Identifier: Apache-2.0
// Lines of cells in aligned columns, for people and for awk: one line each, two spaces between columns, no empty cell.
#pragma once

#include <string>
#include <vector>

namespace zklock::command {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : lines_{std::move(heads)} {}

  // As many cells as there are heads: text as it was read, shown escaped.
  void add(const std::vector<std::string>& cells);

  // Ends with a line end.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace zklock::command
