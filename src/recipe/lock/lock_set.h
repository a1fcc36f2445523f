// SPDX-License-Identifier: Apache-2.0
// Several locks as one: all of them or none. They are taken in the order given, which everybody must keep to; while we
// wait for one, a lease stands on those before it. One of them may be the lock of another zklock that runs us.
#pragma once

#include "recipe/lock/lease.h"
#include "recipe/lock/lock.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

// The lock of another zklock that runs us: ours too, as long as it has it. Nothing is made and nothing is given back;
// release() only looks whether the other has it still.
class OuterLock : public Lockable {
 public:
  OuterLock(zk::Session& session, Held held) : session_(session), held_(std::move(held)) {}

  // `held`; `disturbed` when the other has it no more: then there may be a place to take in line.
  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override { return held_; }
  const Holder& holder() const override { return nobody_; }
  // False: no server told in time; was_deleted() is false then.
  bool release(Duration budget) override;
  bool was_deleted() const override { return was_deleted_; }
  void forget() override { acquired_ = false; }

 private:
  zk::Session& session_;
  Held held_;
  Holder nobody_;
  bool acquired_ = false;  // and not released yet
  bool was_deleted_ = false;
};

class LockSet {
 public:
  using Locks = std::vector<std::unique_ptr<Lockable>>;

  // `make` makes the locks, in a session that is open. `observer` is told when it starts again; of the rest, by the
  // locks themselves.
  LockSet(host::Loop& loop, zk::Session& session, std::function<Locks()> make, WaitObserver& observer)
      : loop_(loop), session_(session), make_(std::move(make)), observer_(observer) {}

  // As Lockable::acquire, but for an expired session, and for one of the first that is lost while we wait for another:
  // then it starts again in a new session, so that nothing of the old one is in its way.
  Outcome acquire(const WaitPolicy& policy);

  // After `busy`: who was in the way of which.
  const Holder& holder() const { return blocked_->holder(); }

  // While held.
  const std::vector<Held>& held() const { return held_; }

  // All of them, the last first.
  bool release(Duration budget);

  // After that, the path of one whose node had been deleted before; empty: none.
  std::string deleted() const;

  // They are gone already.
  void forget();

 private:
  Outcome acquire_each(const WaitPolicy& policy);
  Outcome acquire_next(Lockable& lock, WaitPolicy policy);

  host::Loop& loop_;
  zk::Session& session_;
  std::function<Locks()> make_;
  Locks locks_;
  WaitObserver& observer_;
  std::vector<Held> held_;
  std::optional<Lease> kept_;  // on held_, while there is more to take
  const Lockable* blocked_ = nullptr;
};

}  // namespace zklock::recipe
