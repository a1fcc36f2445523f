// SPDX-License-Identifier: Apache-2.0
#include "command/queue/kept_items.h"

#include <algorithm>

namespace zklock::command {

namespace {

bool is_sooner(const KeptItems::Kept& a, const KeptItems::Kept& b) {
  return a.due < b.due;
}

}  // namespace

void KeptItems::add(recipe::Item item, recipe::Ack ack) {
  Duration delay = first_;
  if (ack == recipe::Ack::retry) {
    for (int64_t attempt = 1; attempt < item.attempts && delay < kLongest; ++attempt) delay *= 2;
  }
  kept_.push_back({std::move(item), ack, deadline_in(std::min(delay, kLongest))});
}

std::optional<KeptItems::Kept> KeptItems::take(bool early) {
  const auto first = std::min_element(kept_.begin(), kept_.end(), is_sooner);
  if (first == kept_.end() || (!early && left_until(first->due) > Duration::zero())) return std::nullopt;
  Kept kept = std::move(*first);
  kept_.erase(first);
  return kept;
}

void KeptItems::arm(host::PollSet& set) {
  if (next() != told_) set.wake_at(next());
}

void KeptItems::decide() {
  if (left_until(next()) == Duration::zero()) told_ = next();
}

Deadline KeptItems::next() const {
  const auto first = std::min_element(kept_.begin(), kept_.end(), is_sooner);
  return first == kept_.end() ? kNever : first->due;
}

}  // namespace zklock::command
