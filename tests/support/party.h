// SPDX-License-Identifier: Apache-2.0
// A client that wants a set of locks, with a session and a loop of its own.
#pragma once

#include "recipe/lock/lock_set.h"
#include "support/sandbox.h"

#include <functional>
#include <memory>
#include <string>

namespace zklock::test {

using Locks = recipe::LockSet::Locks;
using MakeLocks = std::function<Locks(zk::Session&, recipe::WaitObserver&)>;

template <typename... Lockables>
Locks locks_of(std::unique_ptr<Lockables>... lockables) {
  Locks locks;
  (locks.push_back(std::move(lockables)), ...);
  return locks;
}

class CountingObserver : public recipe::WaitObserver {
 public:
  Deadline next_look() const override { return kNever; }
  void on_holder(const recipe::Holder&) override {}
  void on_start_again(bool over) override { ++(over ? expired : disturbed); }
  int expired = 0;
  int disturbed = 0;
};

class Party {
 public:
  using Outcome = recipe::Outcome;

  Party(const std::string& servers, Duration session_timeout, const MakeLocks& make)
      : session(loop, options_for(servers, session_timeout)),
        lock(
            loop, session, [this, make] { return make(session, observer); }, observer) {
    session.open();
  }

  Outcome acquire(Duration patience = std::chrono::seconds(20)) {
    return lock.acquire({patience > Duration::zero(), deadline_in(std::chrono::seconds(20))});
  }
  Outcome acquire_within(Duration patience) { return lock.acquire({true, deadline_in(patience)}); }
  // Throws if it holds nothing, so that only a test that expects a lock fails.
  const recipe::Held& held() const { return lock.held().at(0); }

  host::Loop loop;
  CountingObserver observer;
  zk::Session session;
  recipe::LockSet lock;
};

}  // namespace zklock::test
