// SPDX-License-Identifier: Apache-2.0
// zklock queue pull: its options, the session in which items are taken, and the two ways of pulling. Items go to
// standard output, or to a command each.
#pragma once

#include "base/time.h"
#include "host/process/spawn.h"
#include "host/signals.h"
#include "recipe/queue/ack.h"
#include "recipe/queue/consumer.h"
#include "recipe/queue/idle_line.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The options that say which items are taken out of a queue, and how long pulling waits for them.
struct PullOptions {
  std::string path;
  std::string note;              // put on our claims
  std::string place_note;        // put on our place in line
  std::string end = "\n";        // written after each item
  std::optional<size_t> most;    // items at most; nothing: no limit
  bool all = false;              // until the queue is empty, items in work included
  bool follow = false;           // wait for more items whenever there are none
  std::optional<Duration> idle;  // the longest wait for an item; nothing: endless with `all` or `follow`, else zero

  bool waits() const { return idle ? *idle > Duration::zero() : all || follow; }
};

// The options of `queue pull -- COMMAND`.
struct WorkOptions {
  static constexpr Duration kLongestRetryDelay = std::chrono::minutes(1);

  PullOptions pull;
  host::Program program;
  std::optional<std::string> placeholder;  // replaced by the item in the program's arguments; nothing: the item is
                                           // its standard input
  size_t jobs = 1;
  int64_t most_attempts = 5;
  Duration retry_delay = std::chrono::seconds(1);  // after the first failure
  bool halt = false;                               // stop at the first failure
};

// Writes items to standard output, and removes each once it is written. Throws a Failure for anything but success: 69,
// 74, 77 or a signal. It is 65 if the path is used for something else, and 75 if there was nothing to take. It is 76 if
// items that were written could not be removed. Items that were not written go back then.
void print_items(zk::SessionOptions session, PullOptions options);

// Runs a command for each item, and its status decides what becomes of the item. Returns that status for a single item,
// or if the command cannot work on any; otherwise 0. Throws a Failure for anything but success: 65, 69, 75 and 77 as
// above, or a signal. It is 76 if claims were lost, 123 if some items failed, and 126 or 127 if the command cannot be
// executed. No command runs any more then.
int work_on_items(zk::SessionOptions session, WorkOptions options, const host::Inherited& inherited);

// What both ways of pulling take items through: a session, claims on items, and their acks.
class ConsumerSession {
 public:
  // `use` is what is done with items, for messages: "written", "worked on".
  ConsumerSession(host::Loop& loop, zk::SessionOptions session, const PullOptions& options, std::string use);

  // Connects. Without `all`, makes a missing queue if we wait for items. Throws a Failure (65) if the path is used
  // for something else, and what the session throws.
  void open();
  // Opens a new session after an expiry: the items that we had may be other consumers' now. `done` are those to be
  // removed for which no ack was sent. Throws what open() and check_lost() throw.
  void open_again(const std::vector<recipe::Item>& done);
  // Throws a Failure (76) if items that were to be removed are not known to be removed.
  void check_lost() const;
  // To be called in a catch block, after clean_up(). Throws the exception again; but if items are not known to be
  // removed, a Failure with another status is replaced by a 76 that says so.
  [[noreturn]] void rethrow() const;

  // To be called when items were taken: the longest wait for an item begins again. It begins with open(), and neither
  // an outage nor a new session moves its end.
  void note_items() { idle_until_.reset(); }
  // Waits for an item in the idle line, if we wait at all. To be called when there is nothing to take and all acks are
  // answered. `taken` is the number of items taken before. With items of our `own`, the wait has no end. Returns what
  // was taken; no items: look again, or `disturbed` is true. Returns nothing if no more is to be taken. Throws what
  // IdleLine::wait() throws, and a Failure (75) if our place was removed, or if the wait is over with `all` or without
  // any item.
  std::optional<std::vector<recipe::Item>> wait_for_items(size_t taken, bool own = false,
                                                          std::function<bool()> disturbed = nullptr);

  // For cleaning up: removes `done`, gives back `unused` and what was claimed, and closes the session. The attempts do
  // not count if a server answers in time. Throws only what other sources of the loop throw.
  void clean_up(const std::vector<recipe::Item>& done, std::vector<recipe::Item> unused);

  const std::string& tried() const { return tried_; }  // "cannot pull from /q"
  zk::Session& session() { return session_; }
  recipe::Consumer& consumer() { return consumer_; }
  recipe::Acks& acks() { return acks_; }

 private:
  std::string loss() const;
  Deadline idle_until();
  void check_lack(size_t taken) const;

  PullOptions options_;
  recipe::QueueLayout layout_;
  std::string tried_;
  std::string use_;
  zk::Session session_;
  recipe::Consumer consumer_;
  recipe::Acks acks_;
  recipe::IdleLine idle_line_;
  bool open_ = false;  // there is a session to close
  std::optional<Deadline> idle_until_;
};

}  // namespace zklock::command
