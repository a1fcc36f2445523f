// SPDX-License-Identifier: Apache-2.0
// A lock that N contenders may hold at a time, in the layout of Curator's InterProcessSemaphoreV2. A contender goes
// through a gate, an exclusive lock on <path>/locks. The holder of the gate makes a node for a slot,
// <path>/leases/_c_<uuid>-lease-N, and waits until fewer than N such nodes stand before it. Then it gives the gate to
// the next contender. If there are no other slots, it sends both requests together, and so gives the gate away at once.
// Only the contender in the gate watches the slots, so a release wakes one waiter. (Curator calls the node a lease.
// Here it is a slot, because the lease is our proof that we have one.)
#pragma once

#include "recipe/lock/lock.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zklock::recipe {

// Returns how many slots there are according to the data of one of them; 0: the data does not contain that.
using SlotsIn = std::function<int64_t(const std::string& data)>;

class Slots : public Lockable {
 public:
  // `data` is put on our node in the gate and on our slot. `slots_in` finds `count` in it.
  Slots(zk::Session& session, std::string path, int64_t count, SlotsIn slots_in, std::string data,
        WaitObserver& observer);

  Held held() const override { return slot_.held(); }
  bool release(Duration budget) override;
  void start_release() override;
  bool was_deleted() const override { return slot_.was_deleted(); }
  void forget() override;

 private:
  class Gate : public Lock {
   public:
    Gate(Slots& slots, zk::Session& session, std::string data, WaitObserver& observer);
    using Lock::own;

   private:
    bool may_wait(const WaitPolicy& policy) override;
    Holder find_holder(const Place&) override { return slots_.find_holder(); }
    Slots& slots_;
  };
  struct Leftovers {
    Deadline due = kNever;            // when each slot is read once, to find them
    std::set<std::string> looked_at;  // names of the slots that were read for that
    std::set<std::string> found;      // the leftovers among them
  };

  Outcome take(const WaitPolicy& policy) override;
  void withdraw() override;
  void look_around_gate();
  Outcome take_slot(const WaitPolicy& policy);
  std::optional<Outcome> look(const WaitPolicy& policy);
  std::optional<Outcome> sleep(const zk::Watch& watch, const WaitPolicy& policy);
  void open_gate();
  zk::Call send_with_slot(zk::Client& client);
  void check_path_first();
  void check_path(const zk::Call& listed);
  zk::Answer read_slot(const std::string& name);
  void check_count();
  Deadline time_to_look_at_each(const WaitPolicy& policy) const;
  std::vector<Contender> line_in(const std::vector<std::string>& names) const;
  std::vector<std::string> without_leftovers(std::vector<std::string> names);
  Holder find_holder();
  std::string folder() const { return path_ + "/leases"; }

  std::string path_;
  std::string tried_;
  int64_t count_;
  SlotsIn slots_in_;
  std::string data_;
  WaitObserver& observer_;
  Gate gate_;
  ProtectedNode slot_;
  zk::Call path_list_;     // the first list of the path, until it is checked
  bool alone_ = false;     // there were no slots when our turn in the gate came
  std::string neighbour_;  // the latest slot then
  zk::Call neighbour_read_;
  std::set<std::string> harmless_;  // persistent children of the path with the name of a foreign node
  Leftovers leftovers_;
};

}  // namespace zklock::recipe
