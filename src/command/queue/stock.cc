// SPDX-License-Identifier: Apache-2.0
#include "command/queue/stock.h"

#include <algorithm>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kAhead = 50ms;  // of work
constexpr size_t kMostAhead = 32;  // items
constexpr Duration kLongestWait = 1s;

}  // namespace

size_t Stock::target() const {
  const auto fits = static_cast<size_t>(kAhead * jobs_ / std::max<Duration>(usual_age_, 1us));
  return std::min(kMostAhead, fits);
}

size_t Stock::lacking(size_t free) const {
  return free + target() - std::min(items_.size(), target());
}

Deadline Stock::until() const {
  return items_.empty() ? kNever : moved_ + kLongestWait;
}

void Stock::add(recipe::Item item) {
  items_.push_back(std::move(item));
  moved_ = BootClock::now();
}

void Stock::pop() {
  items_.pop_front();
  moved_ = BootClock::now();
}

std::vector<recipe::Item> Stock::take_all() {
  std::vector<recipe::Item> all(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
  items_.clear();
  return all;
}

}  // namespace zklock::command
