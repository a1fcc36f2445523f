// SPDX-License-Identifier: Apache-2.0
// How many items `queue pull` claims ahead of its reader. A slow reader holds no more than it uses soon, because other
// consumers may have time for the rest. A fast reader, far from the servers, needs many on their way.
#pragma once

#include "base/time.h"
#include "recipe/queue/consumer.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace zklock::command {

class ClaimPace {
 public:
  // Notes the items of a batch that has come. `delivered`: the items written so far, in all. `round_trip`: of the last
  // answer.
  void note(const std::vector<recipe::Item>& batch, size_t delivered, Duration round_trip) {
    size_t size = 0;
    for (const recipe::Item& item : batch) {
      size += item.data.size();
      largest_ = std::max(largest_, item.data.size());
    }
    note_rate(delivered, round_trip);
    if (size > kLargestBatchSize) batch_ = std::max<size_t>(1, batch_ / 2);
    if (size < kLargestBatchSize / 2) batch_ = std::min(kLargestBatch, batch_ * 2);
  }
  // The reader takes nothing now.
  void slow_down() { batch_ = std::max<size_t>(1, batch_ / 4); }

  // How many items to claim at once.
  size_t batch() const { return batch_; }
  // Returns true if another batch may be claimed while `waiting` items are not written yet. The limit is two batches,
  // or more if the reader is fast: twice what it takes in a round trip. Twice, so that its speed can show.
  bool allows_more(const recipe::Consumer& consumer, size_t waiting) const {
    if (consumer.batches() < kFewBatches) return true;
    if (consumer.batches() >= kMostBatches || !consumer.is_alone()) return false;
    const size_t ahead = waiting + consumer.underway();
    return ahead < kFewBatches * (batch_ + in_round_trip()) && ahead * largest_ < kMostAheadSize;
  }

 private:
  void note_rate(size_t delivered, Duration round_trip) {
    round_trip_ = std::min(round_trip_, std::max<Duration>(round_trip, std::chrono::milliseconds(1)));
    const Duration passed = BootClock::now() - since_;
    if (passed < round_trip_) return;
    per_second_ = static_cast<double>(delivered - delivered_) / seconds_of(passed);
    since_ = BootClock::now();
    delivered_ = delivered;
  }

  size_t in_round_trip() const { return static_cast<size_t>(per_second_ * seconds_of(round_trip_)); }

  static constexpr size_t kFewBatches = 2;              // claimed ahead, while other clients compete for items
  static constexpr size_t kMostBatches = 8;             // claimed ahead
  static constexpr size_t kMostAheadSize = 16 << 20;    // bytes, about
  static constexpr size_t kLargestBatch = 128;          // items
  static constexpr size_t kLargestBatchSize = 1 << 20;  // bytes, about

  size_t batch_ = 16;
  size_t largest_ = 0;                           // of the items so far, bytes
  double per_second_ = 0;                        // items that the reader takes; 0: not known yet
  Duration round_trip_ = std::chrono::hours(1);  // the shortest; longer ones include the wait behind our own requests
  Deadline since_ = BootClock::now();            // when `delivered_` was counted
  size_t delivered_ = 0;                         // items
};

}  // namespace zklock::command
