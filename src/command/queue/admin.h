// SPDX-License-Identifier: Apache-2.0
// A look at a queue, and what is done to it on that occasion: the session, the question to the person at the terminal,
// the output.
#pragma once

#include "command/cli/options.h"
#include "host/outlet.h"
#include "recipe/queue/layout.h"

#include <string>
#include <string_view>

namespace zklock::command {

class QueueVisit {
 public:
  // `verb` is for messages: "list".
  QueueVisit(std::string path, std::string verb, const GlobalOptions& global);

  // Connects. False if there is no such queue. Throws a Failure (65) where the path is something else.
  bool look();
  // Connects. Throws a Failure where there is no such queue (75) or the path is something else (65).
  void open();

  // Asks "zklock: QUESTION [y/N]"; throws a Failure (1) for a no. There is no session meanwhile, and a new one after
  // it.
  void confirm(const std::string& question);

  // Writes to standard output as its reader takes it. The session lives on.
  void print(std::string_view text);
  // With --verbose, a line on standard error.
  void remark(const std::string& text) const;

  zk::Session& session() { return session_; }
  const recipe::QueueLayout& layout() const { return layout_; }

 private:
  std::string tried() const;

  recipe::QueueLayout layout_;
  std::string verb_;
  host::Loop loop_;
  zk::Session session_;
};

}  // namespace zklock::command
