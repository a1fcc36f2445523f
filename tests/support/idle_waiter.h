// SPDX-License-Identifier: Apache-2.0
// A client that waits for an item of a queue, and a check whether it sleeps.
#pragma once

#include "recipe/queue/idle_line.h"
#include "support/sandbox.h"

#include <string>
#include <utility>

namespace zklock::test {

// The note on the place of a consumer that sees all items.
inline constexpr const char* kPlaceNote = R"({"queue":2})";

// A waiting client. Its session is long, because a reconnect on a busy machine would wake it.
struct IdleWaiter {
  IdleWaiter(const std::string& servers, const std::string& queue, Duration session_timeout = std::chrono::seconds(60))
      : session(loop, options_for(servers, session_timeout)),
        consumer(session, {queue}, "note"),
        line(loop, session, {queue}, kPlaceNote, consumer) {
    session.open();
  }
  std::string text() { return line.items().empty() ? "" : line.items().front().data; }

  host::Loop loop;
  zk::Session session;
  recipe::Consumer consumer;
  recipe::IdleLine line;
};

// Notices when a waiter falls asleep. One turn without an answer may be a slow server.
class Slumber {
 public:
  explicit Slumber(IdleWaiter& waiter) : client_(waiter.session.client()) {}
  // Call it in each turn. Returns true after enough turns in a row without an answer.
  bool after_turn() {
    idle_ = std::exchange(answers_, client_.answers()) == answers_ ? idle_ + 1 : 0;
    return idle_ >= kTurns;
  }
  void begin_again() { idle_ = 0; }

 private:
  static constexpr int kTurns = 5;
  zk::Client& client_;
  uint64_t answers_ = 0;
  int idle_ = 0;
};

}  // namespace zklock::test
