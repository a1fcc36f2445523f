// SPDX-License-Identifier: Apache-2.0
// A lock that N may hold at a time, in the layout of Curator's InterProcessSemaphoreV2: go through a gate, an exclusive
// lock on <path>/locks; make a lease, <path>/leases/_c_<uuid>-lease-N; wait until fewer than N leases stand before it;
// open the gate for the next one. Only who is in the gate watches the leases, so whoever lets go wakes one waiter.
#pragma once

#include "recipe/lock/lock.h"
#include "recipe/lock/lockable.h"
#include "recipe/lock/protected_node.h"

#include <cstdint>
#include <functional>
#include <string>

namespace zklock::recipe {

// How many slots the text on a lease says there are; 0: it does not say.
using SlotsIn = std::function<int64_t(const std::string& data)>;

class Slots : public Lockable {
 public:
  // `data` is put on our node in the gate and on our lease; `slots_in` finds `count` in it.
  Slots(zk::Session& session, std::string path, int64_t count, SlotsIn slots_in, std::string data,
        WaitObserver& observer);

  Outcome acquire(const Patience& patience) override;
  Held held() const override;
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override;
  bool was_deleted() const override { return slot_.was_deleted(); }
  void forget() override;

 private:
  class Gate : public Lock {
   public:
    Gate(Slots& slots, zk::Session& session, std::string data, WaitObserver& observer);
    std::string uuid() const;
    // Throws a Failure (77) if we may not delete our node.
    void check_refusal() const;

   private:
    bool may_wait(const Patience& patience, const std::vector<Contender>& line) override;
    Holder find_holder(const Place&) override { return slots_.find_holder(); }
    Slots& slots_;
  };

  Outcome acquire_slot(const Patience& patience);
  Outcome open_gate(const Patience& patience);
  void check_use(Deadline until);
  void check_count(const std::vector<Contender>& leases, Deadline until);
  Holder find_holder();
  void withdraw();
  std::string leases() const { return path_ + "/leases"; }

  zk::Session& session_;
  std::string path_;
  int64_t count_;
  SlotsIn slots_in_;
  std::string data_;
  WaitObserver& observer_;
  Gate gate_;
  OwnNode slot_;
  Holder holder_;
};

}  // namespace zklock::recipe
