// SPDX-License-Identifier: Apache-2.0
// What top shows of locks, queues and groups: rows in an order, as wide as the screen. Pure.
#pragma once

#include "host/terminal.h"
#include "recipe/overview/overview.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::command {

enum class TopSort {
  attention,  // long waits; dead letters and queues that grow; groups that are empty or have changed
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
  host::Colour colour = host::Colour::none;  // of what needs a look
};

struct TopSection {
  TopKind kind;
  std::string head;
  std::vector<TopRow> rows;  // one at least
};

struct TopView {
  TopSort sort = TopSort::attention;
  std::string filter;  // what is in the path of each row
  size_t columns = SIZE_MAX;
};

// `now_ms`: the wall clock. Ages are by it, and what they count from by the server's.
std::vector<TopSection> sections_of(const recipe::OverviewFigures& figures, const TopView& view, int64_t now_ms);

// "3 locks (2 held, 1 waited for), 1 queue (12 items, 0 dead), 1 group (3 members)"
std::string sums_of(const recipe::OverviewFigures& figures);

}  // namespace zklock::command
