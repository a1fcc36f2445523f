// SPDX-License-Identifier: Apache-2.0
// Acquires one of several locks, the first that is free. It takes a place in one line after the other until a lock is
// ours at once. If none is, it keeps all places and waits in all lines until it is our turn in one. Then it leaves the
// other lines and waits for the answers, because a forgotten place would block a lock that we do not hold. Each line is
// first come, first served, so the contender that came first gets the lock that is released first.
// tests/model/any_model.cc models this.
#pragma once

#include "recipe/lock/lock.h"

#include <memory>
#include <optional>
#include <vector>

namespace zklock::recipe {

class AnyLock : public Lockable {
 public:
  using Locks = std::vector<std::unique_ptr<Lock>>;

  // `locks` contains at least one lock. They are in the order in which they are wanted.
  AnyLock(zk::Session& session, Locks locks, WaitObserver& observer)
      : session_(session), locks_(std::move(locks)), observer_(observer), chosen_(locks_.front().get()) {}

  // Acquires one of the locks, as Lockable::acquire does. Returns `removed` if our place in any of the lines is gone.
  // Throws 77 also if we may not leave a line.
  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override { return chosen_->held(); }
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override;
  void start_release() override;
  bool was_deleted() const override { return chosen_->was_deleted(); }
  void forget() override;

 private:
  Outcome stand_in_lines(const WaitPolicy& policy);
  std::optional<Outcome> sleep(const WaitPolicy& policy);
  std::optional<Outcome> look_again();
  Outcome leave_others();
  Outcome choose(Lock& lock, Outcome outcome);
  const Holder& look_around();

  zk::Session& session_;
  Locks locks_;
  WaitObserver& observer_;
  Lock* chosen_;  // the lock that is held; before that, the one that decided the outcome
  Holder holder_;
};

}  // namespace zklock::recipe
