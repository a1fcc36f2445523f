// SPDX-License-Identifier: Apache-2.0
#include "zk/last_heard.h"

#include "zk/timing.h"

#include <algorithm>

namespace zklock::zk {

void LastHeard::begin(Deadline handshake) {
  steady_from_ = kNever;
  last_sent_ = {};
  word_ = handshake;
  recent_.clear();
}

void LastHeard::note_answer(Deadline sent, Deadline answered, Duration timeout) {
  const Duration longest = std::max<Duration>(longest_silence_of(timeout), beat_of(timeout) + allowance_);
  if (last_sent_ == Deadline{} || answered - last_sent_ > longest) {
    steady_from_ = answered + longest_report_of(timeout);
  }
  last_sent_ = sent;
  while (!recent_.empty() && recent_.front().answered + longest_report_of(timeout) <= answered) {
    word_ = std::max(word_, recent_.front().sent);
    recent_.pop_front();
  }
  // Leaving some out is safe, because the word only seems older then. It keeps the list short.
  if (recent_.empty() || sent >= recent_.back().sent + timeout / 48) recent_.push_back({sent, answered});
}

Deadline LastHeard::proof_at(Deadline now, Duration timeout) const {
  // Without an answer for a while, no gap is known yet, but the follower may have heard nothing since the last one.
  if (now >= steady_from_) return std::min(now, last_sent_ + timeout - fence_of(timeout));
  Deadline word = word_;
  for (const Answered& one : recent_) {
    if (one.answered + longest_report_of(timeout) <= now) word = std::max(word, one.sent);
  }
  return std::min(now, word + timeout - fence_of(timeout));
}

}  // namespace zklock::zk
