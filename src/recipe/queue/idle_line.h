// SPDX-License-Identifier: Apache-2.0
// The line of consumers that found nothing to take, at the queue's node `waiting`. Only the first of them watches the
// queue, so one push wakes one consumer. It takes an item and leaves the line in one transaction.
//
// The first place may belong to a process that ended while the servers were away. The consumers behind it would sleep
// until its session expires. So for one session timeout after each reconnect, no consumer sleeps behind others for
// longer than a sixth of that timeout. (After a first connection, this is not worth its requests: few processes are
// killed.)
//
// Consumers of older versions do not see items with tags (layout.h), and their notes do not have kKnowsTags. If one of
// them is the first in line, the consumer behind it watches and takes items as if it was the first.
#pragma once

#include "host/loop.h"
#include "recipe/lock/lock.h"
#include "recipe/queue/consumer.h"
#include "recipe/queue/layout.h"
#include "recipe/queue/queue_watch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// A note on a place in line contains this. The value may be more in a later version.
inline constexpr std::string_view kKnowsTags = "\"queue\":";

// An IdleLine lives as long as its consumer. A place whose delete was not answered may still be there, and the
// consumer behind it would sleep for ever. So the delete is sent again, whatever the loop turns for, until it is
// answered or the session is over.
class IdleLine : private WaitObserver, private host::Source {
 public:
  // `note` is written on our place in line, and contains kKnowsTags.
  IdleLine(host::Loop& loop, zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer);

  // Waits until our last place is known to be gone, then in line for an item, and takes it. `held`: the items() are
  // ours. `disturbed`: the caller has to look at other things, or for items, before it waits again. With
  // `end_if_empty`, it waits only as long as items are in work, and then returns `held` without items; behind others it
  // ends as `disturbed` after a sixth of the session timeout. It leaves nothing of ours in the line if a server can be
  // reached. Throws what Lock::acquire() and a Consumer throw, and a Failure if the queue was deleted (65) or our last
  // place may not be deleted (77).
  Outcome wait(const WaitPolicy& patience, bool end_if_empty);
  std::vector<Item>& items() { return items_; }

  // Forgets our place, the watches and the items found. To be called when the session is over.
  void forget();

 private:
  Deadline next_look() const override { return nap_until_; }
  void on_holder(const Holder&) override { nap_until_ = kNever; }
  bool on_predecessor(const std::string& note) override {
    return !note.empty() && note.find(kKnowsTags) == std::string::npos;
  }
  void on_start_again(bool) override {}

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  void decide() override;

  bool in_doubt();
  Outcome stand_in_line(const WaitPolicy& patience, bool end_if_empty);
  void leave();
  std::optional<Outcome> wait_until_left(const WaitPolicy& patience);
  Outcome wait_in_line(const WaitPolicy& patience, bool end_if_empty);
  std::optional<Outcome> look(bool end_if_empty);
  bool watch();
  std::optional<Outcome> sleep(const WaitPolicy& patience, bool end_if_empty);
  bool look_at_known(bool end_if_empty);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  Lock place_;
  std::string left_;          // the node of our last place, until it is known to be gone; empty: there is none
  zk::Call removing_;         // its delete, under way or refused
  uint64_t connections_ = 1;  // Client::connections() at the last look
  Deadline settled_at_{};     // by then, clients that were gone before the current connection are out of the line
  Deadline nap_until_ = kNever;
  zk::Watch place_watch_;
  QueueWatch watch_;
  std::vector<Item> items_;
  host::Attached leaving_behind_;
};

}  // namespace zklock::recipe
