// SPDX-License-Identifier: Apache-2.0
// How a consumer ends its claims. Each ack is one transaction, which also deletes the claim. It is sent only in the
// session that made the claim. If its answer is lost, the outcome is looked up.
#pragma once

#include "recipe/queue/consumer.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <deque>
#include <string>
#include <vector>

namespace zklock::recipe {

// What becomes of the item when its claim ends.
enum class Ack {
  done,         // removed for good
  retry,        // back at its place; the attempt counts
  release,      // back at its place; the attempt does not count
  dead_letter,  // to the dead letters
};

// The acks that are on their way, and what is known of failed ones. Unless stated otherwise, functions throw what the
// session throws. They throw a Failure if an ack is refused (65: a node below the item is not zklock's).
class Acks {
 public:
  Acks(zk::Session& session, QueueLayout layout, Consumer& consumer)
      : session_(session), layout_(std::move(layout)), consumer_(consumer) {}

  // Send acks, and wait for answers only if many are outstanding. remove() sends Ack::done for all `items` in one
  // transaction. While several acks are outstanding, it sends nothing, and keeps the items to remove them together with
  // later ones when an answer has come. `why` is for dead letters. The acks are kept even if this throws. If the
  // session is known to be over, it sends nothing and does not throw.
  void remove(const std::vector<Item>& items);
  void send(Ack ack, const Item& item, const std::string& why);
  // Sends what is kept.
  void flush();
  // Takes in the answers that have come. Does nothing if the session is known to be over.
  void take_answers();
  // Waits until everything is answered.
  void finish();
  bool finished() const { return sent_.empty() && due_.empty(); }

  // To be called when the session is over, before another one is opened. Items to be removed are doubtful() from then
  // on, unless the answer has come, and so are `done`, for which no ack was sent.
  void end_session(const std::vector<Item>& done);

  // For cleaning up, until `until` at most. They throw only what other sources of the loop throw. settle() removes
  // `done`, sends what is not sent yet, and waits for all answers; release() gives `items` back. If that fails, an item
  // to be removed is doubtful().
  // An item to be given back goes back with the end of the session, and its attempt counts.
  void settle(const std::vector<Item>& done, Deadline until);
  void release(const std::vector<Item>& items, Deadline until);

  // Items that we wanted to remove, without knowing that they are removed. lost() items are still there without our
  // claim, so other consumers have or will get them. doubtful() items may be there, or were removed by us or another
  // consumer.
  const std::vector<Item>& lost() const { return lost_; }
  // True if one of the lost() items could not be removed because a node below it is not zklock's.
  bool is_blocked() const { return blocked_; }
  const std::vector<Item>& doubtful() const { return doubtful_; }
  // Moves the doubtful() items that are still there to lost(). After an expiry, in a new session, it cannot be known
  // which client removed the others.
  void look_again();

 private:
  // An ack that is on its way. Only Ack::done can have several items.
  struct Sent {
    Ack ack;
    std::vector<Item> items;
    std::string why;
    zk::Call call = nullptr;  // null: not sent yet
    bool uncounted = false;   // the push of its item is awaited, and its counter is gone
    bool doubtful = false;    // its removal may have been carried out
  };

  void put_due(bool all);
  void send_rest();
  void send_last(Deadline until);
  zk::Call transact(const Sent& sent);
  void put_steps(const Sent& sent, const Item& item, std::vector<zk::Step>& steps) const;
  bool take_in(const Sent& sent, zk::Code code);
  void take_oldest();
  Failure refusal(const Sent& sent, const zk::Answer& answer);
  void find_out(const Sent& sent);
  static bool is_counted(const Sent& sent);
  zk::Code settle_one(Sent& sent, Deadline until);
  void drop(const std::vector<Item>& items);
  void doubt(Ack ack, const std::vector<Item>& items);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  std::deque<Sent> sent_;
  std::vector<Item> due_;  // to be removed, and not in sent_ yet
  std::vector<Item> lost_;
  std::vector<Item> doubtful_;
  bool blocked_ = false;
};

}  // namespace zklock::recipe
