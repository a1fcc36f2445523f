// SPDX-License-Identifier: Apache-2.0
// A lock that N may hold at a time, in the layout of Curator's InterProcessSemaphoreV2: go through a gate, an exclusive
// lock on <path>/locks; make a node for a slot, <path>/leases/_c_<uuid>-lease-N; wait until fewer than N such nodes
// stand before it; open the gate for the next one. Only who is in the gate watches the slots, so whoever lets go wakes
// one waiter. (Curator calls the node a lease. Here it is a slot: the lease is our proof that we have one.)
#pragma once

#include "recipe/lock/lock.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// How many slots the text on one of them says there are; 0: it does not say.
using SlotsIn = std::function<int64_t(const std::string& data)>;

class Slots : public Lockable {
 public:
  // `data` is put on our node in the gate and on our slot; `slots_in` finds `count` in it.
  Slots(zk::Session& session, std::string path, int64_t count, SlotsIn slots_in, std::string data,
        WaitObserver& observer);

  Outcome acquire(const WaitPolicy& policy) override;
  Held held() const override { return slot_.held(path_); }
  const Holder& holder() const override { return holder_; }
  bool release(Duration budget) override;
  bool was_deleted() const override { return slot_.was_deleted(); }
  void forget() override;

 private:
  class Gate : public Lock {
   public:
    Gate(Slots& slots, zk::Session& session, std::string data, WaitObserver& observer);
    const ProtectedNode& node() const { return own(); }

   private:
    bool may_wait(const WaitPolicy& policy) override;
    Holder find_holder(const Place&) override { return slots_.find_holder(); }
    Slots& slots_;
  };

  Outcome take_slot(const WaitPolicy& policy);
  std::optional<Outcome> look(const WaitPolicy& policy);
  std::optional<Outcome> sleep(const zk::Watch& watch, const WaitPolicy& policy);
  Outcome open_gate(const WaitPolicy& policy);
  void check_path(Deadline until);
  void check_count(Deadline until);
  Deadline time_to_look_at_each(const WaitPolicy& policy) const;
  std::vector<Contender> line() const;
  std::vector<std::string> without_leftovers(std::vector<std::string> names, Deadline until);
  Holder find_holder();
  void withdraw();
  std::string folder() const { return path_ + "/leases"; }

  zk::Session& session_;
  std::string path_;
  std::string tried_;
  int64_t count_;
  SlotsIn slots_in_;
  std::string data_;
  WaitObserver& observer_;
  Gate gate_;
  ProtectedNode slot_;
  Holder holder_;
  Deadline look_at_each_ = kNever;   // slot, once; whether it is a leftover
  std::set<std::string> harmless_;   // children of the path that have only the name of a foreign program's node
  std::set<std::string> looked_at_;  // slots
  std::set<std::string> leftovers_;  // those of them that are leftovers
};

}  // namespace zklock::recipe
