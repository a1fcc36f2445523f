// SPDX-License-Identifier: Apache-2.0
// The second session is tried while ours cannot be resumed. Its result counts for this outage only, and from its last
// connection on.
#include "support/fault_proxy.h"
#include "support/process.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <functional>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace second_session_test {

using namespace std::chrono_literals;

class SecondSession : public testing::Test {
 protected:
  SecondSession() {
    proxy_.grant(3s);  // the server itself keeps the sessions for longer
    session_.open();
    id_ = session_.id();
  }

  // Lets the session wait for `fact`, or until it is over.
  bool turn_until(const std::function<bool()>& fact) {
    const Deadline until = deadline_in(support::kBound);
    while (!fact() && !session_.expired() && left_until(until) > Duration::zero()) session_.turn(deadline_in(10ms));
    return fact();
  }

  void begin_second() {
    const int before = proxy_.new_sessions();
    EXPECT_TRUE(turn_until([&] { return proxy_.new_sessions() > before; }));
  }

  // Waits for some attempts to connect. Each session makes one every 50 ms, T/60, while it is refused.
  void wait_for_attempts(int number) {
    const int before = proxy_.accepted();
    EXPECT_TRUE(turn_until([&] { return proxy_.accepted() >= before + number; }));
  }

  test::FaultProxy proxy_{test::shared_servers()};
  host::Loop loop_;
  Session session_{loop_, test::options_for(proxy_.address(), 20s)};
  int64_t id_ = 0;
};

// Only our own connection breaks, so a second session left from the outage before would report at once that ours is
// over.
TEST_F(SecondSession, EndsWithTheOutage) {
  for (int outage = 0; outage < 2; ++outage) {
    proxy_.refuse_session(id_);
    proxy_.lose_answer_to(test::opcode::kChildren);
    EXPECT_EQ(session_.await(session_.client().children("/")).code, Code::unknown);
    begin_second();
    proxy_.refuse_session(0);
    ASSERT_EQ(session_.children("/").code, Code::ok);
  }
  EXPECT_EQ(session_.id(), id_);
}

// Servers restart one after another: ours has two attempts since the last of them has come back.
TEST_F(SecondSession, CountsFromItsLastConnection) {
  proxy_.refuse_session(id_);
  proxy_.cut();
  begin_second();
  wait_for_attempts(3);  // The second session is connected meanwhile.
  proxy_.cut(true);
  const Deadline enough = deadline_in(session_.timeout() / 3);  // two attempts
  EXPECT_TRUE(turn_until([&] { return BootClock::now() > enough; }));
  proxy_.accept_again();
  wait_for_attempts(3);  // One is that of the second session, which is resumed.
  proxy_.refuse_session(0);
  EXPECT_EQ(session_.children("/").code, Code::ok);
  EXPECT_EQ(session_.id(), id_);
}

}  // namespace second_session_test
}  // namespace zklock::zk
