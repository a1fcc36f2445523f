// SPDX-License-Identifier: Apache-2.0
// Items that a consumer has claimed, for a worker to be free. Short commands shall not have to wait for a claim each;
// but others may have time for what our workers have not, so no more is claimed ahead than what takes 50 ms.
#pragma once

#include "base/time.h"
#include "recipe/queue/layout.h"

#include <deque>
#include <vector>

namespace zklock::command {

class Stock {
 public:
  explicit Stock(size_t jobs) : jobs_(jobs) {}

  // A command has run for `age`.
  void learn(Duration age) { usual_age_ = (7 * usual_age_ + age) / 8; }
  // How many items are worth claiming ahead: 0 after long commands.
  size_t target() const;
  // It has fallen so far below its target that it is worth a request.
  bool is_low() const { return target() > 0 && items_.size() <= target() / 2; }
  // How many are missing, also for `free` workers.
  size_t lacking(size_t free) const;
  // Then they have waited too long for a worker: those that run take longer than those before. kNever: it is empty.
  Deadline until() const;

  void add(recipe::Item item);
  const recipe::Item& front() const { return items_.front(); }
  // The first one went to a worker, or elsewhere.
  void pop();
  std::vector<recipe::Item> take_all();
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }

 private:
  size_t jobs_;
  std::deque<recipe::Item> items_;
  Deadline moved_{};                             // when the last one came or went
  Duration usual_age_{std::chrono::seconds(1)};  // of a command at its end, lately
};

}  // namespace zklock::command
