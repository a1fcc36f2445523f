// SPDX-License-Identifier: Apache-2.0
// What the subcommands share that list, count or change a queue: a session for one queue.
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

// One queue, and a session in which a subcommand reads and changes it.
class QueueVisit {
 public:
  // `verb` is for messages: "list".
  QueueVisit(std::string path, std::string_view verb, const GlobalOptions& global)
      : layout_{std::move(path)},
        tried_(fmt::format("cannot {} {}", verb, layout_.queue)),
        session_(loop_, session_options(global)) {
    session_.set_purpose(tried_);
  }

  // Connects, and returns whether there is such a queue. Throws a Failure if the path is used for something else (65)
  // or may not be read (77), and what the session throws.
  bool look() {
    session_.open();
    found_ = recipe::look_at_queue(session_, layout_, {layout_.items(), layout_.dead()}, tried_);
    return found_.exists;
  }

  // Connects. Throws a Failure (75) if there is no such queue, and what look() throws.
  void open() {
    if (look()) return;
    session_.close();
    throw Failure(ExitStatus::busy, tried_ + ": there is no such queue");
  }

  // Asks "zklock: QUESTION [y/N]". The session is closed meanwhile, and open() follows. Throws a Failure (1) if the
  // answer is no; then there is no session.
  void confirm(const std::string& question) {
    session_.close();
    command::confirm(fmt::format("zklock: {}", question), layout_.queue);
    open();
  }

  // Writes `text` to standard output as fast as its reader takes it, while the session lives on.
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

  // With --verbose, writes a line to standard error.
  void remark(const std::string& text) const {
    if (session_.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
  }

  // What look() has found: layout().items() and layout().dead() are listed, in this order.
  const recipe::FoundQueue& found() const { return found_; }
  recipe::QueueCounts count() { return recipe::count_queue(session_, layout_, false); }
  // The same for what look() has found.
  recipe::QueueCounts count_found(bool exact) { return recipe::count_queue(session_, layout_, found_, exact); }
  recipe::QueueWalk walk(bool dead) { return {session_, layout_, dead, found_.lists[dead ? 1 : 0]}; }
  int64_t find_oldest(const recipe::QueueCounts& counts) { return recipe::find_oldest(session_, layout_, counts); }
  zk::Session& session() { return session_; }
  const recipe::QueueLayout& layout() const { return layout_; }

 private:
  recipe::QueueLayout layout_;
  std::string tried_;
  host::Loop loop_;
  zk::Session session_;
  recipe::FoundQueue found_;
};

}  // namespace zklock::command
