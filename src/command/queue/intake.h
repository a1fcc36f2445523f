// SPDX-License-Identifier: Apache-2.0
// Where whoever takes items out of a queue gets them from: a session, claims on items, and the ends of claims.
#pragma once

#include "command/queue/pull_options.h"
#include "recipe/queue/ack.h"
#include "recipe/queue/consumer.h"
#include "recipe/queue/idle_line.h"
#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <optional>
#include <string>

namespace zklock::command {

class Intake {
 public:
  // `use`: what is done with items, for messages: "written", "worked on".
  Intake(host::Loop& loop, zk::SessionOptions session, const PullOptions& options, std::string use);

  // Connects. Throws a Failure where the path is no queue (65).
  void open();
  // There is a session to be closed.
  bool is_open() const { return open_; }
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
  // 75: what was looked for in vain, `taken` before that.
  void check_lack(size_t taken) const;

  // For whoever cleans up, within `until`: removes `done`, and gives back what is claimed and `unused`; none of that
  // counts as an attempt. Throws nothing but what other sources of the loop throw.
  void clean_up(const std::vector<recipe::Item>& done, std::vector<recipe::Item> unused);

  const recipe::QueueLayout& layout() const { return layout_; }
  const std::string& tried() const { return tried_; }
  zk::Session& session() { return session_; }
  recipe::Consumer& consumer() { return consumer_; }
  recipe::Acks& acks() { return acks_; }
  recipe::IdleLine& idle_line() { return idle_line_; }

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
  bool open_ = false;
  std::optional<Deadline> idle_until_;
};

}  // namespace zklock::command
