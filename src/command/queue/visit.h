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
#include <vector>

#include <fmt/format.h>

namespace zklock::command {

// One queue, and a session in which a subcommand reads and changes it.
struct QueueVisit : Task {
  // `verb` is for messages: "list".
  QueueVisit(const std::string& path, std::string_view verb, const GlobalOptions& global)
      : Task(session_options(global), fmt::format("cannot {} {}", verb, path)), layout{path} {}

  // Connects, and returns whether there is such a queue. Throws a Failure if the path is used for something else (65)
  // or may not be read (77), and what the session throws.
  bool look() {
    session.open();
    found = (deletes ? recipe::look_at_queue_to_delete : recipe::look_at_queue)(session, layout, folders, tried);
    return found.exists;
  }

  // Connects. Throws a Failure (75) if there is no such queue, and what look() throws.
  void open() {
    if (look()) return;
    session.close();
    throw Failure(ExitStatus::busy, tried + ": there is no such queue");
  }

  // Asks "zklock: QUESTION [y/N]". The session is closed meanwhile, and open() follows. Throws a Failure (1) if the
  // answer is no; then there is no session.
  void confirm(const std::string& question) {
    session.close();
    command::confirm(fmt::format("zklock: {}", question), layout.queue);
    open();
  }

  // Writes `text` to standard output as fast as its reader takes it, while the session lives on.
  void print(std::string_view text) {
    host::StandardOutput outlet;
    const host::Attached writing(loop, outlet);
    outlet.want(true);
    for (;;) {
      text.remove_prefix(outlet.write(text));
      if (text.empty()) return;
      session.turn(kNever);
    }
  }

  // With --verbose, writes a line to standard error.
  void remark(const std::string& text) const {
    if (session.options().verbose) host::remark(fmt::format("zklock: {}\n", text));
  }

  // What look() has found.
  recipe::QueueCounts count(bool exact) { return recipe::count_queue(session, layout, found, exact); }
  recipe::QueueWalk walk(bool dead) { return {session, layout, dead, found.lists[dead ? 1 : 0]}; }

  recipe::QueueLayout layout;
  std::vector<std::string> folders{layout.items(), layout.dead()};
  bool deletes = false;      // a queue that is being deleted is seen, too
  recipe::FoundQueue found;  // by look(): `folders` are listed, in this order
};

}  // namespace zklock::command
