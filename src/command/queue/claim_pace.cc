// SPDX-License-Identifier: Apache-2.0
#include "command/queue/claim_pace.h"

#include <algorithm>

namespace zklock::command {

namespace {

constexpr size_t kFewBatches = 2;              // claimed ahead, while other clients take items, too
constexpr size_t kMostBatches = 8;             // claimed ahead
constexpr size_t kMostAheadSize = 16 << 20;    // bytes, about
constexpr size_t kLargestBatch = 128;          // items
constexpr size_t kLargestBatchSize = 1 << 20;  // bytes, about

}  // namespace

void ClaimPace::note(const std::vector<recipe::Item>& batch, size_t delivered, Duration round_trip) {
  size_t size = 0;
  for (const recipe::Item& item : batch) {
    size += item.data.size();
    largest_ = std::max(largest_, item.data.size());
  }
  note_rate(delivered, round_trip);
  if (size > kLargestBatchSize) batch_ = std::max<size_t>(1, batch_ / 2);
  if (size < kLargestBatchSize / 2) batch_ = std::min(kLargestBatch, batch_ * 2);
}

void ClaimPace::note_rate(size_t delivered, Duration round_trip) {
  round_trip_ = std::min(round_trip_, std::max<Duration>(round_trip, std::chrono::milliseconds(1)));
  const Duration passed = BootClock::now() - since_;
  if (passed < round_trip_) return;
  const double seconds = std::chrono::duration<double>(passed).count();
  per_second_ = static_cast<double>(delivered - delivered_) / seconds;
  since_ = BootClock::now();
  delivered_ = delivered;
}

void ClaimPace::slow_down() {
  batch_ = std::max<size_t>(1, batch_ / 4);
}

size_t ClaimPace::in_round_trip() const {
  return static_cast<size_t>(per_second_ * std::chrono::duration<double>(round_trip_).count());
}

bool ClaimPace::allows_more(const recipe::Consumer& consumer, size_t waiting) const {
  if (consumer.batches() < kFewBatches) return true;
  if (consumer.batches() >= kMostBatches || !consumer.is_alone()) return false;
  const size_t ahead = waiting + consumer.underway();
  return ahead < kFewBatches * (batch_ + in_round_trip()) && ahead * largest_ < kMostAheadSize;
}

}  // namespace zklock::command
