// SPDX-License-Identifier: Apache-2.0
// What is said on standard error along the way, a line each. Dropped where that does not take it at once, so that
// nothing is held up; the last word is main's.
#pragma once

#include "host/terminal.h"
#include "zk/session.h"

#include <string_view>

#include <fmt/format.h>

namespace zklock::command {

// "zklock: TEXT".
inline void say(std::string_view text) {
  host::remark(fmt::format("zklock: {}\n", text));
}

class Console {
 public:
  // It is asked whether --verbose was given, and for its connection.
  explicit Console(const zk::Session& session) : session_(session) {}

  bool verbose() const { return session_.options().verbose; }
  // With --verbose.
  void detail(std::string_view text) const {
    if (verbose()) say(text);
  }
  // With --verbose, once when the connection goes and once when it comes, with `more` behind it. To be called at every
  // turn of the loop while the session is open.
  void report_connection(std::string_view more = "") {
    if (session_.connected() == connected_) return;
    connected_ = session_.connected();
    detail(fmt::format("{}{}", connected_ ? "reconnected to " + session_.server() : "the connection was lost", more));
  }

 private:
  const zk::Session& session_;
  bool connected_ = true;  // as last said
};

}  // namespace zklock::command
