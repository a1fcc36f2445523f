// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lock_set.h"

#include "host/trace.h"
#include "zk/timing.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::recipe {

using zk::Code;

void OuterLock::start_release() {
  if (acquired_ && session_.may_send()) checking_ = session_.client().check({held_.node});
}

// A node's czxid never changes. So if the node is there, it is still what its name and czxid showed it to be.
Outcome OuterLock::take(const WaitPolicy&) {
  const auto check = [this](zk::Client& client) {
    held_.proved = session_.proof_now();
    held_.sent = BootClock::now();
    host::trace("asking");
    return client.check({held_.node});
  };
  const zk::Answer answer = session_.ask(check);
  acquired_ = answer.code == Code::ok;
  if (acquired_) {
    host::trace("proved", {{"sent", held_.sent}, {"fence", held_.proved + zk::fence_of(session_.timeout())}});
    return Outcome::held;
  }
  if (answer.code == Code::no_node) return Outcome::disturbed;
  throw zk::failure_of(fmt::format("cannot take {}", held_.path), answer);
}

bool OuterLock::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  while (acquired_ && (checking_ || session_.settle_connection(until))) {
    if (!checking_) checking_ = session_.client().check({held_.node});
    const zk::Call check = std::exchange(checking_, nullptr);
    if (!session_.settle(check, until)) break;
    if (check->answer.code == Code::unknown) continue;
    was_deleted_ = check->answer.code == Code::no_node;
    acquired_ = false;
  }
  return !acquired_ || session_.expired();
}

Outcome LockSet::acquire(const WaitPolicy& policy) {
  const zk::Within within(session_, policy.until);
  for (;;) {
    const auto outcome = acquire_each(policy);
    kept_.reset();
    if (outcome && outcome != Outcome::disturbed) return *outcome;
    observer_.on_start_again(!outcome);
    session_.close();
    session_.open();
  }
}

// Returns nothing if the session has expired.
std::optional<Outcome> LockSet::acquire_each(const WaitPolicy& policy) {
  held_.clear();
  try {
    locks_ = make_();
    for (const auto& lock : locks_) {
      const Outcome outcome = acquire_next(*lock, policy);
      if (outcome == Outcome::held) continue;
      blocked_ = lock.get();
      release(withdrawal_budget(session_));
      return outcome;
    }
  } catch (const zk::SessionOver&) {
    forget();
    return std::nullopt;
  } catch (...) {
    release(withdrawal_budget(session_));
    throw;
  }
  return Outcome::held;
}

Outcome LockSet::acquire_next(Lockable& lock, WaitPolicy policy) {
  if (held_.empty()) {
    const Outcome outcome = lock.acquire(policy);
    if (outcome == Outcome::held) held_.push_back(lock.held());
    return outcome;
  }
  if (!kept_) kept_.emplace(session_, held_, Duration::zero());
  policy.disturbed = [this] { return kept_->state() != LeaseState::held; };
  const host::Attached keeping(loop_, *kept_);
  const Outcome outcome = lock.acquire(policy);
  if (outcome != Outcome::held) return outcome;
  held_.push_back(lock.held());
  if (kept_->state() != LeaseState::held) return Outcome::disturbed;
  for (Held& held : held_) held.proved = std::max(held.proved, kept_->proved());
  kept_->add(held_.back());
  return Outcome::held;
}

bool LockSet::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  const bool sent = session_.may_send();
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) (*lock)->start_release();
  if (sent) session_.end_behind();
  bool all = true;
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) all &= (*lock)->release(left_until(until));
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
