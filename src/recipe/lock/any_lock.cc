// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lock_set.h"
#include "zk/timing.h"

#include <algorithm>

namespace zklock::recipe {

Outcome AnyLock::take(const WaitPolicy& policy) {
  const Outcome outcome = stand_in_lines(policy);
  return outcome == Outcome::held ? leave_others() : outcome;
}

Outcome AnyLock::stand_in_lines(const WaitPolicy& policy) {
  for (const auto& lock : locks_) {
    if (const auto outcome = lock->enter()) return choose(*lock, *outcome);
  }
  if (!policy.in_line) {
    for (const auto& lock : locks_) {
      if (const auto outcome = lock->pass_leftovers()) return choose(*lock, *outcome);
    }
    look_around();
    return Outcome::busy;
  }
  for (;;) {
    if (const auto outcome = sleep(policy)) return *outcome;
    if (const auto outcome = look_again()) return *outcome;
  }
}

// Returns nothing if the caller must look at the lines again.
std::optional<Outcome> AnyLock::sleep(const WaitPolicy& policy) {
  std::vector<zk::Watch> watches;
  bool all = true;
  for (const auto& lock : locks_) {
    if (const auto outcome = lock->watch()) return choose(*lock, *outcome);
    all = all && lock->is_watched();
    for (const zk::Watch& watch : lock->watches()) watches.push_back(watch);
  }
  if (!all) return std::nullopt;
  return wait_for_change(
      session_, watches, policy, observer_, [this]() -> const Holder& { return look_around(); },
      deadline_in(zk::longest_sleep_of(session_.timeout())));
}

// Looks at the lines in which something has changed, or at all of them if nothing has woken us.
std::optional<Outcome> AnyLock::look_again() {
  std::vector<Lock*> changed;
  for (const auto& lock : locks_) {
    if (!lock->is_watched()) changed.push_back(lock.get());
  }
  if (changed.empty()) {
    for (const auto& lock : locks_) changed.push_back(lock.get());
  }
  for (Lock* lock : changed) {
    if (const auto outcome = lock->look_again()) return choose(*lock, *outcome);
  }
  return std::nullopt;
}

// Until the answers are here, the contenders after us in the other lines wait for a lock that we do not want. Meanwhile
// we may lose the lock that we hold, so its proof must not be old.
Outcome AnyLock::leave_others() {
  const auto others = [this](const auto& visit) {
    for (const auto& lock : locks_) {
      if (lock.get() != chosen_) visit(*lock);
    }
  };
  others([](Lock& lock) { lock.start_release(); });
  for (bool left = false; !left;) {
    const Deadline until = deadline_in(zk::beat_of(session_.timeout()));
    left = true;
    others([&](Lock& lock) { left &= lock.release(left_until(until)); });
    if (left) break;
    others([](Lock& lock) { lock.check_refusal(); });
    session_.ready();
  }
  session_.check_alive();
  const bool old = BootClock::now() - chosen_->held().proved >= zk::heartbeat_of(session_.timeout());
  return old ? chosen_->look_again().value_or(Outcome::removed) : Outcome::held;
}

Outcome AnyLock::choose(Lock& lock, Outcome outcome) {
  chosen_ = &lock;
  holder_.path = lock.holder().path;
  return outcome;
}

// Reports the line in which the fewest contenders stand before us.
const Holder& AnyLock::look_around() {
  const auto nearest = std::min_element(locks_.begin(), locks_.end(),
                                        [](const auto& a, const auto& b) { return a->before() < b->before(); });
  holder_ = (*nearest)->look_around();
  holder_.among = locks_.size();
  return holder_;
}

bool AnyLock::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  start_release();
  bool all = true;
  for (const auto& lock : locks_) all &= lock->release(left_until(until));
  return all;
}

void AnyLock::start_release() {
  for (const auto& lock : locks_) lock->start_release();
}

void AnyLock::forget() {
  for (const auto& lock : locks_) lock->forget();
}

}  // namespace zklock::recipe
