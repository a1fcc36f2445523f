// SPDX-License-Identifier: Apache-2.0
// Prints remarks on standard error while zklock works, one line each. One is dropped if standard error does not take it
// at once, so that nothing is held up. main writes the final message.
#pragma once

#include "host/terminal.h"
#include "zk/session.h"

#include <string_view>

#include <fmt/format.h>

namespace zklock::command {

// Writes "zklock: TEXT".
inline void say(std::string_view text) {
  host::remark(fmt::format("zklock: {}\n", text));
}

class Console {
 public:
  // `session` knows whether --verbose was given and whether it is connected. It must outlive this.
  explicit Console(const zk::Session& session) : session_(session) {}

  bool verbose() const { return session_.options().verbose; }
  // Writes `text` if --verbose was given.
  void detail(std::string_view text) const {
    if (verbose()) say(text);
  }
  // With --verbose, reports once when the connection is lost and once when it is back, with `more` appended. Call it at
  // every turn of the loop while the session is open.
  void report_connection(std::string_view more = "") {
    if (session_.connected() == connected_) return;
    connected_ = session_.connected();
    detail(fmt::format("{}{}", connected_ ? "reconnected to " + session_.server() : "the connection was lost", more));
  }

 private:
  const zk::Session& session_;
  bool connected_ = true;  // as last reported
};

}  // namespace zklock::command
