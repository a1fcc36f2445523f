// SPDX-License-Identifier: Apache-2.0
// Several locks as one: all of them or none. They are taken in the order given, which everybody must keep to; while we
// wait for one, a lease stands on those before it.
#pragma once

#include "recipe/lock/lease.h"
#include "recipe/lock/lockable.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

class LockSet {
 public:
  using Locks = std::vector<std::unique_ptr<Lockable>>;

  // `make` makes the locks, in a session that is open. `observer` is told when it starts again; of the rest, by the
  // locks themselves.
  LockSet(host::Loop& loop, zk::Session& session, std::function<Locks()> make, WaitObserver& observer)
      : loop_(loop), session_(session), make_(std::move(make)), observer_(observer) {}

  // As Lockable::acquire, but for an expired session, and for one of the first that is lost while we wait for another:
  // then it starts again in a new session, so that nothing of the old one is in its way.
  Lockable::Outcome acquire(const Patience& patience);

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
  Lockable::Outcome acquire_each(const Patience& patience);
  Lockable::Outcome acquire_next(Lockable& lock, Patience patience);

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
