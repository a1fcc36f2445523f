// SPDX-License-Identifier: Apache-2.0
// What becomes of items that we have worked on. Each way is one transaction with the end of the claim, sent in the
// session that made the claim and in no other. A lost answer is looked up.
#pragma once

#include "recipe/queue/consumer.h"
#include "recipe/queue/item.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::recipe {

enum class Fate {
  done,       // removed for good
  failed,     // back at its place; the attempt counts
  untouched,  // back at its place; the attempt does not count
  dead,       // to the dead letters
};

class Discharge {
 public:
  Discharge(zk::Session& session, QueueLayout layout, Consumer& consumer)
      : session_(session), layout_(std::move(layout)), consumer_(consumer) {}

  // These send it off, and wait for answers only when many are outstanding.
  void remove(const std::vector<Item>& items, Deadline until);
  // `why`: for the dead letters.
  void discharge(Fate fate, const Item& item, const std::string& why, Deadline until);
  // The answers that have come.
  void take_answers(Deadline until);
  // Until all is answered.
  void finish(Deadline until);
  bool finished() const { return partings_.empty(); }

  // Of the items, those whose claims a quorum knows of now, proved anew.
  std::vector<Item> confirm(std::vector<Item> items, Deadline until);

  // For cleaning up, within `until`, throwing nothing but what other sources of the loop throw. What was to go back and
  // does not is back with the session's end, but counts as an attempt then; what was to be removed is doubtful().
  void send(const std::vector<Item>& items, Deadline until);  // as remove()
  void settle(Deadline until);
  void give_back(const std::vector<Item>& items, Deadline until);

  // Those that were to be removed and are not known to be. `lost`: seen to be there still, without our claim: somebody
  // gets them, or has them. `doubtful`: removed by us, or still there, or somebody else's who has removed them by now.
  // Where the session expired, look_again() in a new one finds those that are there; who removed the others, nobody can
  // tell.
  const std::vector<Item>& lost() const { return lost_; }
  const std::vector<Item>& doubtful() const { return doubtful_; }
  void look_again(Deadline until);

 private:
  // On its way. Several items only where they are done.
  struct Parting {
    Fate fate;
    std::vector<Item> items;
    std::string why;
    zk::Call call = nullptr;
  };

  void begin(Parting parting);
  zk::Call transact(const Parting& parting);
  void put_steps(const Parting& parting, const Item& item, std::vector<zk::Step>& steps) const;
  void take_oldest(Deadline until);
  void find_out(const Parting& parting, Deadline until);
  void begin_each(const Parting& parting, const std::vector<Item>& items, Deadline until);
  bool settle_one(Parting& parting, Deadline until);
  void drop(const std::vector<Item>& items);
  void doubt(const Parting& parting, const std::vector<Item>& items);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  std::deque<Parting> partings_;
  std::vector<Item> lost_;
  std::vector<Item> doubtful_;
};

}  // namespace zklock::recipe
