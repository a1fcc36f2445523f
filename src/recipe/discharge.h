// SPDX-License-Identifier: Apache-2.0
// What becomes of items that we have worked on: removed for good, or given back. Each way is one transaction with the
// end of the claim, sent in the session that made the claim and in no other. A lost answer is looked up.
#pragma once

#include "recipe/consumer.h"
#include "recipe/item.h"

#include <deque>
#include <vector>

namespace zklock::recipe {

class Discharge {
 public:
  Discharge(zk::Session& session, Consumer& consumer) : session_(session), consumer_(consumer) {}

  // Sends it off. Waits for answers only when many are outstanding.
  void remove(const std::vector<Item>& items, Deadline until);
  // Until all of remove() is answered.
  void finish(Deadline until);
  bool finished() const { return removals_.empty(); }

  // Of the items, those whose claims a quorum knows of now, proved anew.
  std::vector<Item> confirm(std::vector<Item> items, Deadline until);

  // For cleaning up, within `until`, throwing nothing but what other sources of the loop throw. What does not succeed
  // is done by the session's end, but counts as an attempt then.
  void send(const std::vector<Item>& items, Deadline until);  // as remove()
  void settle(Deadline until);
  void give_back(const std::vector<Item>& items, Deadline until);

  // Those that were to be removed, and whose claims were gone by then: somebody else gets them, or has them. Where the
  // session expired, look_again() in a new one takes out what was removed all the same.
  const std::vector<Item>& lost() const { return lost_; }
  void look_again(Deadline until);

 private:
  struct Removal {
    std::vector<Item> items;
    zk::Call call;
  };

  void send_removal(const std::vector<Item>& items);
  zk::Call transact_removal(const std::vector<Item>& items);
  void take_oldest(Deadline until);
  void find_out(const std::vector<Item>& items, Deadline until);
  void remove_each(const std::vector<Item>& items, Deadline until);
  void drop(const std::vector<Item>& items);
  void lose(const std::vector<Item>& items);

  zk::Session& session_;
  Consumer& consumer_;
  std::deque<Removal> removals_;
  std::vector<Item> lost_;
};

}  // namespace zklock::recipe
