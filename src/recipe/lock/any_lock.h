// SPDX-License-Identifier: Apache-2.0
// One of several locks, the first that is free: take a place in one line after the other until one is ours at once; if
// none is, keep all places and wait in all lines for the first that comes to be. Then leave the other lines, and see
// that done: a place left behind would block a lock that we do not hold. In each line it is first come, first served,
// so who came first gets the lock that is released first. tests/model/any_model.cc
#pragma once

#include "recipe/lock/lock.h"

#include <memory>
#include <optional>
#include <vector>

namespace zklock::recipe {

class AnyLock : public Lockable {
 public:
  using Locks = std::vector<std::unique_ptr<Lock>>;

  // One at least, in the order in which they are wanted.
  AnyLock(zk::Session& session, Locks locks, WaitObserver& observer)
      : session_(session), locks_(std::move(locks)), observer_(observer), chosen_(locks_.front().get()) {}

  // As Lockable::acquire. `removed` is a place in any of the lines; 77 also where we may not leave one.
  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override { return chosen_->held(); }
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override;
  bool was_deleted() const override { return chosen_->was_deleted(); }
  void forget() override;

 private:
  Outcome stand_in_lines(const WaitPolicy& policy);
  std::optional<Outcome> sleep(const WaitPolicy& policy);
  std::optional<Outcome> look_again(const WaitPolicy& policy);
  Outcome leave_others(const WaitPolicy& policy);
  Outcome choose(Lock& lock, Outcome outcome);
  const Holder& look_around();

  zk::Session& session_;
  Locks locks_;
  WaitObserver& observer_;
  Lock* chosen_;  // the one that is held; before that, the one that decided how it ended
  Holder holder_;
};

}  // namespace zklock::recipe
