// SPDX-License-Identifier: Apache-2.0
// How many items `queue pull` claims ahead of its reader. A slow reader holds no more than it uses soon, because other
// consumers may have time for the rest. A fast reader, far from the servers, needs many on their way.
#pragma once

#include "base/time.h"
#include "recipe/queue/consumer.h"

#include <cstddef>
#include <vector>

namespace zklock::command {

class ClaimPace {
 public:
  // Notes the items of a batch that has come, and that until now `delivered` items, ever, were written. `round_trip`:
  // of the last answer.
  void note(const std::vector<recipe::Item>& batch, size_t delivered, Duration round_trip);
  // The reader takes nothing now.
  void slow_down();

  // How many items to claim at once.
  size_t batch() const { return batch_; }
  // Returns true if another batch may be claimed while `waiting` items are not written yet: up to twice what the reader
  // takes in a round trip, so that the number can grow with a fast reader.
  bool allows_more(const recipe::Consumer& consumer, size_t waiting) const;

 private:
  void note_rate(size_t delivered, Duration round_trip);
  size_t in_round_trip() const;

  static constexpr size_t kFirstBatch = 16;

  size_t batch_ = kFirstBatch;
  size_t largest_ = 0;                           // of the items so far, bytes
  double per_second_ = 0;                        // items that the reader takes; 0: not known yet
  Duration round_trip_ = std::chrono::hours(1);  // the shortest; longer ones include the wait behind our own requests
  Deadline since_ = BootClock::now();            // when there were delivered_
  size_t delivered_ = 0;
};

}  // namespace zklock::command
