// SPDX-License-Identifier: Apache-2.0
// Decides which rows of each section are on the screen, and which row the cursor is on.
#pragma once

#include "command/top/sections.h"
#include "host/screen.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

class TopPage {
 public:
  // Replaces the sections. A cursor that was moved off the first row stays with its row, wherever that goes. Otherwise
  // it stays on the first row.
  void set(std::vector<TopSection> sections);

  void move(ptrdiff_t rows);
  void move_to_end(bool last);
  void move_to_next_section();

  // The row that the cursor is on.
  struct Chosen {
    TopKind kind;
    std::string path;
  };
  // Returns nothing if there are no rows.
  std::optional<Chosen> chosen() const;

  // Returns at most `rows` lines, the one with the cursor among them. Each section gets a fair share; if there is no
  // room for all sections, only the one with the cursor is shown.
  std::vector<host::ScreenLine> lines(size_t rows);

 private:
  struct RowPlace {
    size_t section = 0;
    size_t row = 0;
  };

  size_t count() const;
  RowPlace place() const;
  std::vector<size_t> shares(size_t rows, bool spaced) const;
  void show(size_t index, size_t most, std::vector<host::ScreenLine>& lines);

  std::vector<TopSection> sections_;
  size_t cursor_ = 0;  // among the rows of all sections
  bool moved_ = false;
  std::map<TopKind, size_t> first_;  // row that is shown, for each section
};

}  // namespace zklock::command
