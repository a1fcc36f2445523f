// SPDX-License-Identifier: Apache-2.0
// The line of consumers that find nothing to take, at the queue's node `waiting`. Only the first of them watches the
// queue, so that one push wakes one consumer; taking an item and leaving the line is one transaction.
//
// After a reconnect the library sends all watches in one packet, and a server drops a connection on which too large a
// packet comes, again and again. So there is room for 64 KiB of watched paths. Where that is not enough, what is not
// watched is looked at from time to time.
//
// The first may be the place of a process that ended while the servers were away, and whoever stands behind it sleeps
// until that session expires. So for one session timeout from each reconnect on nobody sleeps behind others for longer
// than a sixth of it. (On a first connection that is not worth its requests: few processes are killed.)
#pragma once

#include "host/loop.h"
#include "recipe/lock/lock.h"
#include "recipe/queue/consumer.h"
#include "recipe/queue/layout.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zklock::recipe {

// How the waiting ended.
enum class IdleEnd {
  taken,    // items() are ours
  nothing,  // there is no item in the queue, nor in work; only if asked for
  timeout,
  removed,  // our place was deleted by somebody while our session lived
  expired,
  disturbed,  // look again, and come back
};

// It lives as long as whoever stands in it goes on. A place whose delete was not answered may still stand, and whoever
// stands behind it would sleep for ever; so the delete is sent again, whatever the loop turns for, until it is answered
// or the session is over.
class IdleLine : private WaitObserver, private host::Source {
 public:
  // `note` is put on our place in line.
  IdleLine(host::Loop& loop, zk::Session& session, QueueLayout layout, std::string note, Consumer& consumer);

  // Waits for an item and takes it, but not before the last place is known to be gone. `end_if_empty`: not for items
  // that are not in the queue yet. Nothing of ours stays in the line, as long as a server can be reached. Throws what a
  // lock and a consumer throw, and a Failure (77) where our last place may not be deleted.
  IdleEnd wait(const WaitPolicy& patience, bool end_if_empty);
  std::vector<Item>& items() { return items_; }

  // The session is over.
  void forget();

 private:
  Deadline next_look() const override { return nap_until_; }
  void on_holder(const Holder&) override { nap_until_ = kNever; }
  void on_start_again(Outcome) override {}

  void arm(host::PollSet&) override {}
  void record(const host::PollSet&) override {}
  void decide() override;

  bool in_doubt();
  Outcome stand_in_line(const WaitPolicy& patience);
  void leave();
  std::optional<IdleEnd> wait_until_left(const WaitPolicy& patience);
  IdleEnd wait_in_line(const WaitPolicy& patience, bool end_if_empty);
  std::optional<IdleEnd> look(bool end_if_empty);
  bool watch();
  void list_segments();
  bool watch_open(bool check_all);
  bool watch_items();
  bool take_note(const std::string& segment, const std::vector<std::string>& names);
  std::optional<IdleEnd> sleep(const WaitPolicy& patience, bool end_if_empty);
  bool look_at_known(bool end_if_empty);
  Deadline next_poll() const;
  size_t overhead() const;
  bool take_room(const std::string& path, size_t limit);

  zk::Session& session_;
  QueueLayout layout_;
  Consumer& consumer_;
  Lock place_;
  std::string left_;          // our last place, until it is known to be gone
  zk::Call leaving_;          // its delete, under way or refused
  uint64_t connections_ = 1;  // as of the last look
  Deadline settled_at_{};     // by then who was gone before the connection in use is out of the line
  Deadline nap_until_ = kNever;
  zk::Watch place_watch_;
  zk::Watch items_watch_;                             // on the list of segments
  std::vector<std::string> segments_;                 // paths, as in that list
  std::vector<std::string> open_;                     // those of them that take items
  std::map<std::string, zk::Watch> segment_watches_;  // on their lists; also of those that were open once
  bool blind_ = false;                                // there was no room for all that are open
  size_t room_taken_ = 0;                             // bytes
  std::vector<std::string> found_;                    // items that are new or were given back, in order
  std::vector<Item> items_;
  host::Attached leaving_behind_;
};

}  // namespace zklock::recipe
