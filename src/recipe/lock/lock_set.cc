// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lock_set.h"

#include "recipe/lock/protected_node.h"

#include <algorithm>

namespace zklock::recipe {

using Outcome = Lockable::Outcome;

Outcome LockSet::acquire(const Patience& patience) {
  for (;;) {
    const Outcome outcome = acquire_each(patience);
    kept_.reset();
    switch (outcome) {
      case Outcome::held:
      case Outcome::busy:
      case Outcome::removed:
        return outcome;
      case Outcome::expired:
      case Outcome::disturbed:
        break;
    }
    observer_.on_start_again(outcome);
    session_.close();
    session_.open(patience.until);
  }
}

Outcome LockSet::acquire_each(const Patience& patience) {
  held_.clear();
  try {
    locks_ = make_();
    for (const auto& lock : locks_) {
      const Outcome outcome = acquire_next(*lock, patience);
      if (outcome == Outcome::held) continue;
      blocked_ = lock.get();
      release(withdrawal_budget(session_));
      return outcome;
    }
  } catch (...) {
    release(withdrawal_budget(session_));
    throw;
  }
  return Outcome::held;
}

Outcome LockSet::acquire_next(Lockable& lock, Patience patience) {
  if (held_.empty()) {
    const Outcome outcome = lock.acquire(patience);
    if (outcome == Outcome::held) held_.push_back(lock.held());
    return outcome;
  }
  if (!kept_) kept_.emplace(session_, held_, Duration::zero());
  patience.disturbed = [this] { return kept_->state() != Lease::State::held; };
  const host::Attached keeping(loop_, *kept_);
  const Outcome outcome = lock.acquire(patience);
  if (outcome != Outcome::held) return outcome;
  held_.push_back(lock.held());
  if (kept_->state() != Lease::State::held) return Outcome::disturbed;
  for (Held& held : held_) held.proved = std::max(held.proved, kept_->proved());
  kept_->add(held_.back());
  return Outcome::held;
}

bool LockSet::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  bool all = true;
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) {
    all &= (*lock)->release(left_until(until));
  }
  return all;
}

std::string LockSet::deleted() const {
  for (size_t i = 0; i < held_.size(); ++i) {
    if (locks_[i]->was_deleted()) return held_[i].path;
  }
  return "";
}

void LockSet::forget() {
  for (const auto& lock : locks_) lock->forget();
  held_.clear();
}

}  // namespace zklock::recipe
