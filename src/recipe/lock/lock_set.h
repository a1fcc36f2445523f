// SPDX-License-Identifier: Apache-2.0
// What is taken in place of one lock: the lock of an outer zklock, one of several locks, or all of several.
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
  OuterLock(zk::Session& session, Held held) : Lockable(session), held_(std::move(held)) {}

  Held held() const override { return held_; }
  // Returns false if no server answered in time; was_deleted() is false then.
  bool release(Duration budget) override;
  void start_release() override;
  bool was_deleted() const override { return was_deleted_; }
  void forget() override { acquired_ = false; }

 private:
  // Returns `held`, or `disturbed` if the outer zklock has lost the lock: then the caller may stand in line itself.
  Outcome take(const WaitPolicy& policy) override;

  Held held_;
  bool acquired_ = false;  // and not released yet
  zk::Call checking_;      // the request of start_release()
  bool was_deleted_ = false;
};

// Acquires one of several locks, the first that is free. It takes a place in one line after the other until a lock is
// ours at once. If none is, it keeps all places and waits in all lines until it is our turn in one. Then it leaves the
// other lines and waits for the answers, because a forgotten place would block a lock that we do not hold. Each line is
// first come, first served, so the contender that came first gets the lock that is released first.
// tests/model/any_model.cc models this.
class AnyLock : public Lockable {
 public:
  using Locks = std::vector<std::unique_ptr<Lock>>;

  // `locks` contains at least one lock. They are in the order in which they are wanted.
  AnyLock(zk::Session& session, Locks locks, WaitObserver& observer)
      : Lockable(session), locks_(std::move(locks)), observer_(observer), chosen_(locks_.front().get()) {}

  Held held() const override { return chosen_->held(); }
  bool release(Duration budget) override;
  void start_release() override;
  bool was_deleted() const override { return chosen_->was_deleted(); }
  void forget() override;

 private:
  // Acquires one of the locks. Returns `removed` if our place in any of the lines is gone. Throws 77 also if we may not
  // leave a line.
  Outcome take(const WaitPolicy& policy) override;
  void withdraw() override { release(withdrawal_budget(session_)); }
  Outcome stand_in_lines(const WaitPolicy& policy);
  std::optional<Outcome> sleep(const WaitPolicy& policy);
  std::optional<Outcome> look_again();
  Outcome leave_others();
  Outcome choose(Lock& lock, Outcome outcome);
  const Holder& look_around();

  Locks locks_;
  WaitObserver& observer_;
  Lock* chosen_;  // the lock that is held; before that, the one that decided the outcome
};

// Takes several locks, all of them or none, in the order given. All users must take them in the same order. While we
// wait for one, a lease covers those before it. One of them may be the lock of an outer zklock.
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
