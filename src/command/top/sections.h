// SPDX-License-Identifier: Apache-2.0
// Makes what top shows of locks, queues and groups: sorted rows, as wide as the screen. Pure.
#pragma once

#include "host/terminal.h"
#include "recipe/overview/overview.h"

#include <cstdint>
#include <string>
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

}  // namespace zklock::command
