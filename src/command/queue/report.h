// SPDX-License-Identifier: Apache-2.0
// What is in a queue, as text: for people and awk in columns, with --json an object on a line of its own for each item.
#pragma once

#include "recipe/queue/admin.h"

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::command {

// "items 3", "dead 0", and with `exact` "in_work 1", a line each.
std::string text_of(const recipe::QueueCounts& count, bool exact);
std::string json_of(const recipe::QueueCounts& count, bool exact);

// Takes the items in pieces, so that no more than one has to be kept.
class QueueReport {
 public:
  QueueReport(bool dead, bool json) : dead_(dead), json_(json) {}

  // Those that follow the ones before.
  std::string text_of(const std::vector<recipe::QueueItem>& items);

 private:
  std::vector<std::string> row_of(const recipe::QueueItem& item);
  std::string line_of(const recipe::QueueItem& item);

  bool dead_;
  bool json_;
  size_t listed_ = 0;
};

}  // namespace zklock::command
