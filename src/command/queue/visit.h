// SPDX-License-Identifier: Apache-2.0
// What the small subcommands for queues share: one queue, in a session of its own.
#pragma once

#include "base/failure.h"
#include "command/cli/output.h"
#include "command/queue/queue.h"
#include "host/loop.h"
#include "host/streams.h"
#include "host/terminal.h"
#include "recipe/queue/admin.h"
#include "recipe/queue/nodes.h"
#include "zk/session.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace zklock::command {

// A look at a queue, and what is done to it on that occasion.
class QueueVisit {
 public:
  // `verb` is for messages: "list".
  QueueVisit(std::string path, std::string_view verb, const GlobalOptions& global)
      : layout_{std::move(path)},
        tried_(fmt::format("cannot {} {}", verb, layout_.queue)),
        session_(loop_, session_options(global)) {
    session_.set_purpose(tried_);
  }

  // Connects. False if there is no such queue. Throws a Failure (65) where the path is something else.
  bool look() {
    session_.open(kNever);
    const recipe::QueueState state = recipe::look_at_queue(session_, layout_, tried_, kNever);
    if (state == recipe::QueueState::expired) throw zk::expired(tried_);
    return state == recipe::QueueState::there;
  }

  // Connects. Throws a Failure where there is no such queue (75) or the path is something else (65).
  void open() {
    if (look()) return;
    session_.close();
    throw Failure(ExitStatus::busy, tried_ + ": there is no such queue");
  }

  // Asks "zklock: QUESTION [y/N]"; throws a Failure (1) for a no. There is no session meanwhile, and a new one after
  // it.
  void confirm(const std::string& question) {
    session_.close();
    command::confirm(fmt::format("zklock: {}", question), layout_.queue);
    session_.open(kNever);
  }

  // Writes to standard output as its reader takes it. The session lives on.
  void print(std::string_view text) {
    host::StandardOutput outlet;
    const host::Attached writing(loop_, outlet);
    outlet.want(true);
    for (;;) {
      text.remove_prefix(outlet.write(text));
      if (text.empty()) return;
      session_.turn(kNever);
    }
  }

  // With --verbose, a line on standard error.
  void remark(const std::string& text) const {
    if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
  }

  recipe::QueueCounts count(bool exact) { return recipe::count_queue(session_, layout_, exact, kNever); }
  int64_t find_oldest(const recipe::QueueCounts& counts) {
    return recipe::find_oldest(session_, layout_, counts, kNever);
  }
  zk::Session& session() { return session_; }
  const recipe::QueueLayout& layout() const { return layout_; }

 private:
  recipe::QueueLayout layout_;
  std::string tried_;
  host::Loop loop_;
  zk::Session session_;
};

}  // namespace zklock::command
