// SPDX-License-Identifier: Apache-2.0
// Takes several locks, all of them or none, in the order given. All users must take them in the same order. While we
// wait for one, a lease covers those before it. One of them may be the lock of an outer zklock.
#pragma once

#include "recipe/lock/lease.h"
#include "recipe/lock/lock.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

// The lock of an outer zklock, which is ours too as long as that zklock has it. It makes and deletes nothing; release()
// only checks that the outer zklock still has it.
class OuterLock : public Lockable {
 public:
  OuterLock(zk::Session& session, Held held) : session_(session), held_(std::move(held)) {}

  // Returns `held`, or `disturbed` if the outer zklock has lost the lock: then there may be a place to take in line.
  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override { return held_; }
  const Holder& holder() const override { return nobody_; }
  // Returns false if no server answered in time; was_deleted() is false then.
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

  // `make` makes the locks, and is called while a session is open. `observer` is told when the set starts again. The
  // locks tell it the rest.
  LockSet(host::Loop& loop, zk::Session& session, std::function<Locks()> make, WaitObserver& observer)
      : loop_(loop), session_(session), make_(std::move(make)), observer_(observer) {}

  // Acquires all locks, as Lockable::acquire does. If the session expires, or a lock is lost while we wait for another,
  // it starts again. It does so in a new session, so that no node of the old one is in its way.
  Outcome acquire(const WaitPolicy& policy);

  // After `busy`: returns the contender that was in the way, and of which lock.
  const Holder& holder() const { return blocked_->holder(); }

  // Returns what we hold. To be called only while all are held.
  const std::vector<Held>& held() const { return held_; }

  // Releases all of them, the last first.
  bool release(Duration budget);

  // After release(): the path of a lock whose node had been deleted before; empty: none.
  std::string deleted() const;

  // Forgets the locks without a request: their nodes are gone, or go with the session.
  void forget();

 private:
  std::optional<Outcome> acquire_each(const WaitPolicy& policy);
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
