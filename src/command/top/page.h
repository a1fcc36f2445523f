// SPDX-License-Identifier: Apache-2.0
// What top shows of locks, queues and groups: sections of sorted rows, as wide as the screen, a page of them with a
// cursor on a row, and the details of a row. All is pure.
#pragma once

#include "host/screen.h"
#include "host/terminal.h"
#include "recipe/overview/overview.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zklock::command {

enum class TopSort {
  attention,  // long waits, dead letters, growing queues, groups that are empty or have changed
  name,
  size,  // contenders, items, members
  age,   // of the hold, the oldest item, the last change
};

const char* name_of(TopSort sort);
TopSort next(TopSort sort);

enum class TopKind { lock, queue, group };

struct TopRow {
  std::string path;
  std::string text;
  host::Colour colour = host::Colour::none;  // none, unless the row needs attention
};

struct TopSection {
  TopKind kind;
  std::string head;
  std::vector<TopRow> rows;  // at least one
};

struct TopView {
  TopSort sort = TopSort::attention;
  std::string filter;  // only rows whose path contains it are shown
  size_t columns = SIZE_MAX;
};

// Returns the sections that have rows. `now_ms`: ms since 1970 by our wall clock. Ages run from a moment by the
// server's clock to `now_ms`.
std::vector<TopSection> sections_of(const recipe::OverviewFigures& figures, const TopView& view, int64_t now_ms);

// Returns "3 locks (2 held, 1 waited for), 1 queue (12 items, 0 dead), 1 group (3 members)".
std::string sums_of(const recipe::OverviewFigures& figures);

// Returns the sums, and what they leave out; or that there is no node at `path`, the root of the tree.
std::string summary_of(const recipe::OverviewFigures& figures, const std::string& path);

// --- pages

// Decides which rows of each section are on the screen, and which row the cursor is on.
class TopPage {
 public:
  // Replaces the sections. A cursor that was moved off the first row stays with its row, wherever that goes. Otherwise
  // it stays on the first row.
  void set(std::vector<TopSection> sections);

  static constexpr ptrdiff_t kAll = PTRDIFF_MAX / 2;  // more rows than there are
  // Moves the cursor down, or up if `rows` is negative, but not past the first or last row.
  void move(ptrdiff_t rows);
  void move_to_next_section();

  // The row that the cursor is on.
  struct Chosen {
    TopKind kind;
    std::string path;
    bool operator==(const Chosen&) const = default;
  };
  // Returns nothing if there are no rows.
  std::optional<Chosen> chosen() const;

  // Returns at most `rows` lines, the one with the cursor among them. Each section gets a fair share; if there is no
  // room for all sections, only the one with the cursor is shown.
  std::vector<host::ScreenLine> lines(size_t rows);

 private:
  size_t count() const;
  // Returns the section of the cursor, and its row in there.
  std::pair<size_t, size_t> place() const;
  std::vector<size_t> shares(size_t rows, bool spaced) const;
  void show(size_t index, size_t most, std::vector<host::ScreenLine>& lines);

  std::vector<TopSection> sections_;
  size_t cursor_ = 0;  // among the rows of all sections
  bool moved_ = false;
  std::map<TopKind, size_t> first_;  // row that is shown, for each section
};

// Returns the details as text that fits a screen.
using TopDetail = std::function<std::string(const host::Display& display)>;

// Shows the details of a row, which Enter has opened, as text that can be scrolled below its first line.
class DetailPage {
 public:
  // Opens a row, whose details are not read yet. Without one it closes the page.
  void open(std::optional<TopPage::Chosen> row);
  // Returns the open row; nothing if the page is closed.
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
