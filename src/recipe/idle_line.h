// SPDX-License-Identifier: Apache-2.0
// The line of consumers that find nothing to take, at the queue's node `waiting`. Only the first of them watches the
// queue, so that one push wakes one consumer; taking an item and leaving the line is one transaction.
#pragma once

#include "recipe/consumer.h"
#include "recipe/lock.h"
#include "recipe/queue_layout.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

class IdleLine : private WaitObserver {
 public:
  // `note` is put on our place in line.
  IdleLine(zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer);

  enum class End {
    taken,    // items() are ours
    nothing,  // there is no item in the queue, nor in work; only if asked for
    timeout,
    removed,  // our place was deleted by somebody while our session lived
    expired,
    disturbed,
  };

  // Waits for an item and takes it. `end_if_empty`: not for items that are not in the queue yet. Nothing of ours stays
  // in the line, as long as a server can be reached. Throws what a lock and a consumer throw.
  End wait(const Patience& patience, bool end_if_empty);
  std::vector<Item>& items() { return items_; }

 private:
  Deadline next_look() const override { return kNever; }
  void on_holder(const Holder&) override {}
  void on_start_again(Outcome) override {}

  End wait_in_line(const Patience& patience, bool end_if_empty);
  std::optional<End> look(bool end_if_empty);
  bool watch(const zk::Watch& watch, bool end_if_empty);
  bool watch_items(const std::vector<std::string>& segments, const zk::Watch& watch, bool end_if_empty);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  Lock place_;
  std::vector<Item> items_;
};

}  // namespace zklock::recipe
