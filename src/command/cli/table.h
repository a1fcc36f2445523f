// SPDX-License-Identifier: Apache-2.0
// Lines of cells in aligned columns, for people and for awk. A row is one line, with two spaces between columns and no
// empty cell.
#pragma once

#include "command/cli/options.h"
#include "host/terminal.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::command {

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : lines_{std::move(heads)} {}

  // Adds a row, which must have as many cells as there are heads. Cells are text as it was read; they are shown
  // escaped.
  void add(const std::vector<std::string>& cells);

  // Gives each cell below `head` the colour that fits its text. The colour does not count for the width.
  void paint(std::string_view head, host::Colour (*colour_of)(const std::string& cell));

  // The columns that give way if there is no room, by their heads.
  struct Yielding {
    std::vector<std::string_view> left_out;   // the least important first, after columns without any value
    std::vector<std::string_view> shortened;  // their cells end in "…", but stay long enough to make sense
  };
  // Makes the lines at most `columns` characters long, as far as `yielding` allows. Call it after the last add().
  void fit(size_t columns, const Yielding& yielding);

  // For a table that is printed in pieces: keep(first.heads()) gives a later piece the columns of the first.
  const std::vector<std::string>& heads() const { return lines_.front(); }
  void keep(const std::vector<std::string>& heads);

  // Returns the lines; the last one has a line end too.
  std::string text() const;

 private:
  std::vector<size_t> widths() const;
  std::vector<size_t> least_widths(const Yielding& yielding) const;
  std::vector<std::string> heads_for(size_t columns, const Yielding& yielding) const;
  std::optional<size_t> find(std::string_view head) const;
  bool says_nothing(size_t column) const;
  std::string shown(size_t line, size_t column) const;

  std::vector<std::vector<std::string>> lines_;
  std::string_view painted_;
  host::Colour (*colour_of_)(const std::string& cell) = nullptr;
};

// Adds -l, --long, which shows all columns uncut.
void add_long_option(CLI::App& app, bool& long_form);

// Returns the display for a table on standard output; with `long_form`, its width does not count.
inline host::Display table_display(bool long_form) {
  host::Display display = host::display_of(STDOUT_FILENO);
  if (long_form) display.columns.reset();
  return display;
}

}  // namespace zklock::command
