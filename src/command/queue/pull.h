// SPDX-License-Identifier: Apache-2.0
// zklock queue pull: what was asked for, the session in which items are taken, and the two ways of pulling: to standard
// output, and to a command for each item.
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

// Which items are taken out of a queue, and how long they are waited for.
struct PullOptions {
  std::string path;
  std::string note;              // for our claims and our place in line
  std::string end = "\n";        // behind each item that is written
  std::optional<size_t> most;    // items; nothing: as many as there are
  bool all = false;              // until the queue has none, in work included
  bool follow = false;           // for ever
  std::optional<Duration> idle;  // how long to wait for an item at most; nothing: for ever with `all` or `follow`, else
                                 // not at all

  bool waits() const { return idle ? *idle > Duration::zero() : all || follow; }
};

// What `queue pull -- COMMAND` was asked for.
struct WorkOptions {
  static constexpr Duration kLongestRetryDelay = std::chrono::minutes(1);

  PullOptions pull;
  host::Program program;
  std::optional<std::string> placeholder;  // what is replaced by the item in the program's arguments; nothing: the item
                                           // is its standard input
  size_t jobs = 1;
  int64_t most_attempts = 5;
  Duration retry_delay = std::chrono::seconds(1);  // after the first failure
  bool halt = false;                               // the first failure is the last
};

// Items to standard output, removed from the queue once written. Throws a Failure for what is not success: 65 where
// there is no queue, 69, 74, 75 where nothing was there, 76 where items that were written could not be removed, 77, a
// signal.
void print_items(zk::SessionOptions session, PullOptions options);

// A command for each item, whose status says what becomes of that. Returns 0, or for a single item the status of its
// command. Throws a Failure for what is not success: 65 where there is no queue, 69, 75 where nothing was there, 76
// where claims were lost, 77, 123 where items of many failed, a signal.
int work_on_items(zk::SessionOptions session, WorkOptions options, const host::Inherited& inherited);

// Where both get items from: a session, claims on items, and the ends of claims.
class ConsumerSession {
 public:
  // `use`: what is done with items, for messages: "written", "worked on".
  ConsumerSession(host::Loop& loop, zk::SessionOptions session, const PullOptions& options, std::string use);

  // Connects. Throws a Failure where the path is no queue (65).
  void open();
  // A new session after the last one: what was claimed is somebody else's now. Throws a Failure (76) where items were
  // to be removed in the last one and are not known to be.
  void open_again();
  // The same for claims that were lost while the session lived on.
  void check_lost() const;
  // For whoever has caught something and has cleaned up: throws that again; but where items are not known to be
  // removed, that is the end which matters (76), unless claims were lost anyway.
  [[noreturn]] void rethrow() const;

  // Until when an item is waited for: so long from the beginning, and again whenever there is none any more after some
  // were had. Neither an outage nor a new session moves it.
  Deadline idle_until();
  // Some were had.
  void note_items() { idle_until_.reset(); }
  // Waits in the line of idle consumers. Throws a Failure (75) where our place in it was removed; so it never returns
  // IdleEnd::removed.
  recipe::IdleEnd wait_in_line(const recipe::WaitPolicy& patience, bool end_if_empty);
  // After IdleEnd::taken.
  std::vector<recipe::Item> take_items() { return std::move(idle_line_.items()); }
  // 75: what was looked for in vain, `taken` before that.
  void check_lack(size_t taken) const;

  // For whoever cleans up: removes `done`, and gives back what is claimed and `unused`; none of that counts as an
  // attempt. Throws nothing but what other sources of the loop throw.
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
  bool open_ = false;  // there is a session to be closed
  std::optional<Deadline> idle_until_;
};

}  // namespace zklock::command
