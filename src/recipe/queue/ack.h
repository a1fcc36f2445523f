// SPDX-License-Identifier: Apache-2.0
// How a consumer ends its claims. Each ack is one transaction with the end of the claim, sent in the session that made
// the claim and in no other. A lost answer is looked up.
#pragma once

#include "recipe/queue/consumer.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::recipe {

// What becomes of the item.
enum class Ack {
  done,         // removed for good
  retry,        // back at its place; the attempt counts
  release,      // back at its place; the attempt does not count
  dead_letter,  // to the dead letters
};

// The acks that are on their way, and what is known of those that failed.
class Acks {
 public:
  Acks(zk::Session& session, QueueLayout layout, Consumer& consumer)
      : session_(session), layout_(std::move(layout)), consumer_(consumer) {}

  // These send it off, and wait for answers only when many are outstanding.
  void remove(const std::vector<Item>& items, Deadline until);  // Ack::done, in one transaction
  // `why`: for the dead letters.
  void send(Ack ack, const Item& item, const std::string& why, Deadline until);
  // The answers that have come.
  void take_answers(Deadline until);
  // Until all is answered.
  void finish(Deadline until);
  bool finished() const { return sent_.empty(); }

  // For cleaning up, within `until`, throwing nothing but what other sources of the loop throw. What was to go back and
  // does not is back with the session's end, but counts as an attempt then; what was to be removed is doubtful().
  void settle(const std::vector<Item>& done, Deadline until);  // these are removed, and all is answered
  void release(const std::vector<Item>& items, Deadline until);

  // Those that were to be removed and are not known to be. `lost`: seen to be there still, without our claim: somebody
  // gets them, or has them. `doubtful`: removed by us, or still there, or somebody else's who has removed them by now.
  // Where the session expired, look_again() in a new one finds those that are there; who removed the others, nobody can
  // tell.
  const std::vector<Item>& lost() const { return lost_; }
  const std::vector<Item>& doubtful() const { return doubtful_; }
  void look_again(Deadline until);

 private:
  // Several items only where they are done.
  struct Sent {
    Ack ack;
    std::vector<Item> items;
    std::string why;
    zk::Call call = nullptr;
  };

  void begin(Sent sent, Deadline until);
  void begin_each(const Sent& sent, const std::vector<Item>& items, Deadline until);
  void begin_last(const std::vector<Item>& done, Deadline until);
  zk::Call transact(const Sent& sent);
  void put_steps(const Sent& sent, const Item& item, std::vector<zk::Step>& steps) const;
  void take_oldest(Deadline until);
  Failure blocked(const std::vector<Item>& items, Deadline until);
  void make_dead_segment(const Item& item, Deadline until);
  void find_out(const Sent& sent, Deadline until);
  bool settle_one(Sent& sent, Deadline until);
  void drop(const std::vector<Item>& items);
  void doubt(Ack ack, const std::vector<Item>& items);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  std::deque<Sent> sent_;
  std::vector<Item> lost_;
  std::vector<Item> doubtful_;
};

}  // namespace zklock::recipe
