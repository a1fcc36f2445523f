// SPDX-License-Identifier: Apache-2.0
// Which rows of which section are on the screen, and which of them the cursor is on.
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
  // The cursor stays with its row wherever that goes, once it was moved; else it stays on the first.
  void set(std::vector<TopSection> sections);

  void move(ptrdiff_t rows);
  void move_to_end(bool last);
  void move_to_next_section();

  // Nothing where there are no rows.
  struct Chosen {
    TopKind kind;
    std::string path;
  };
  std::optional<Chosen> chosen() const;

  // At most `rows` lines, that with the cursor among them. Each section has a fair part of them; where there is no
  // room for all, only that with the cursor is shown.
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
  std::map<TopKind, size_t> first_;  // row that is shown, of each section
};

}  // namespace zklock::command
