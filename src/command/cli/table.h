// SPDX-License-Identifier: Apache-2.0
// Lines of cells in aligned columns, for people and for awk: one line each, two spaces between columns, no empty cell.
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

  // As many cells as there are heads: text as it was read, shown escaped.
  void add(const std::vector<std::string>& cells);

  // The cells below `head` get the colour of what they say; their width is that without.
  void paint(std::string_view head, host::Colour (*colour_of)(const std::string& cell));

  // What gives way where there is no room, by heads.
  struct Yielding {
    std::vector<std::string_view> left_out;   // the least important first; before them those that say nothing
    std::vector<std::string_view> shortened;  // cells, with "…"; never to less than can be made sense of
  };
  // After the last add: lines of at most `columns` characters, as far as `yielding` has it.
  void fit(size_t columns, const Yielding& yielding);

  // For a table in pieces, whose later ones have the columns of the first.
  const std::vector<std::string>& heads() const { return lines_.front(); }
  void keep(const std::vector<std::string>& heads);

  // Ends with a line end.
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

// -l, --long: all columns, whole.
void add_long_option(CLI::App& app, bool& long_form);

// What a table on standard output is for.
inline host::Display table_display(bool long_form) {
  host::Display display = host::display_of(STDOUT_FILENO);
  if (long_form) display.columns.reset();
  return display;
}

}  // namespace zklock::command
