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

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The options that say which items are taken out of a queue, and how long pulling waits for them.
struct PullOptions {
  std::string path;
  std::string note;              // put on our claims and on our place in line
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

  // Connects, and makes the queue if we wait for items, but not with `all`. Throws a Failure (65) if the path is used
  // for something else, and what the session throws.
  void open();
  // Opens a new session after an expiry: the items that we had may be other consumers' now. `done` are those to be
  // removed for which no ack was sent. Throws what open() and check_lost() throw.
  void open_again(const std::vector<recipe::Item>& done);
  // Throws a Failure (76) if items that were to be removed are not known to be removed.
  void check_lost() const;
  // To be called in a catch block, after clean_up(). Throws the exception again; but if items are not known to be
  // removed, another Failure than 76 becomes a 76 that says so.
  [[noreturn]] void rethrow() const;

  // Returns until when to wait for an item; kNever: without end. The wait begins at the first call, and again at the
  // first call after note_items(). Neither an outage nor a new session moves its end.
  Deadline idle_until();
  // To be called when items were taken.
  void note_items() { idle_until_.reset(); }
  // Waits for an item in the idle line. Throws what IdleLine::wait() throws, and a Failure (75) instead of returning
  // IdleEnd::removed.
  recipe::IdleEnd wait_in_line(const recipe::WaitPolicy& patience, bool end_if_empty);
  // Hands over the items that were taken. Only after IdleEnd::taken.
  std::vector<recipe::Item> take_items() { return std::move(idle_line_.items()); }
  // To be called when there is nothing to take and the wait is over. Throws a Failure (75) with `all`, or if `taken`,
  // the number of items taken before, is 0.
  void check_lack(size_t taken) const;

  // For cleaning up: removes `done`, gives back `unused` and what was claimed, and closes the session. The attempts do
  // not count if a server answers in time. Throws only what other sources of the loop throw.
  void clean_up(const std::vector<recipe::Item>& done, std::vector<recipe::Item> unused);

  const std::string& tried() const { return tried_; }  // "cannot pull from /q"
  zk::Session& session() { return session_; }
  recipe::Consumer& consumer() { return consumer_; }
  recipe::Acks& acks() { return acks_; }

 private:
  std::string loss() const;

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
