// SPDX-License-Identifier: Apache-2.0
// recipe/value/change while answers and sessions are lost.
#include "recipe/value/change.h"

#include "support/process.h"
#include "support/proxied.h"

#include <utility>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace change_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

class ChangeTest : public test::Proxied {
 protected:
  // The session expires before the answer to the change's transaction comes.
  ChangeResult change_in_doubt(const ValueChange& change) {
    host::Loop loop;
    zk::Session session(loop, test::options_for(through_proxy_, 500ms));
    session.open();
    const int64_t first = session.id();
    proxy_.fall_silent_after(test::opcode::kTransaction);
    const Script script(loop, [&, over = kNever]() mutable {
      if (proxy_.is_silent() && over == kNever) over = deadline_in(3 * session.timeout());
      if (BootClock::now() > over) proxy_.set(FaultProxy::Mode::pass);
    });
    const ChangeResult result = change_value(session, change, "cannot change " + change.path);
    EXPECT_NE(session.id(), first);
    return result;
  }
};

TEST_F(ChangeTest, AVersionThatWasWrittenInASessionThatIsOverMayBeOurs) {
  observer_.create("/v", "old");
  const ChangeResult result = change_in_doubt({ChangeKind::set_version, "/v", "new", 0});
  EXPECT_EQ(result.end, ChangeEnd::unknown);
  EXPECT_EQ(observer_.read("/v").data, "new");
}

TEST_F(ChangeTest, WhatWasDeletedInASessionThatIsOverIsDone) {
  observer_.create("/v", "old");
  EXPECT_EQ(change_in_doubt({ChangeKind::remove, "/v"}).end, ChangeEnd::done);
}

// ClickHouse Keeper answers so when it stops serving: the write may be done, and the session lives.
TEST_F(ChangeTest, AWriteThatIsAnsweredWithTheEndOfItsSessionMayBeDone) {
  observer_.create("/v", "old");
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 4s));
  session.open();
  const int64_t id = session.id();
  const Script script(loop, [&] {
    // These are the write, and the request whether the session is local.
    constexpr int kRefused = 2;
    const bool refuses = proxy_.requests(test::opcode::kTransaction) < kRefused;
    if (refuses) proxy_.answer_with(test::opcode::kTransaction, zk::kSaysExpired);
  });
  const ChangeResult result = change_value(session, {ChangeKind::set_version, "/v", "new", 0}, "cannot change /v");
  EXPECT_EQ(result.end, ChangeEnd::unknown);
  EXPECT_EQ(observer_.read("/v").data, "new");
  EXPECT_EQ(session.id(), id);
}

// What is above is read with the node, whether it is needed or not.
TEST_F(ChangeTest, LooksOnceAtWhatIsToBeMade) {
  observer_.create("/other");
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 30s));
  session.open();
  for (const char* value : {"one", "two"}) {
    const int reads = proxy_.requests(test::opcode::kRead);
    EXPECT_EQ(change_value(session, {ChangeKind::set, "/a/b/v", value}, "cannot set /a/b/v").end, ChangeEnd::done);
    EXPECT_EQ(proxy_.requests(test::opcode::kRead) - reads, 4);
  }
  EXPECT_EQ(change_value(session, {ChangeKind::set_version, "/a/b/v", "three", 1}, "cannot set /a/b/v").end,
            ChangeEnd::done);
  EXPECT_EQ(proxy_.requests(test::opcode::kRead), 12);
  EXPECT_EQ(proxy_.requests(test::opcode::kSync), 3);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), 3);
}

// An answer of the first look is lost: another server may answer the rest, so all is asked again.
TEST_F(ChangeTest, AFirstLookOfWhichAPartIsLostIsTakenAgain) {
  observer_.create("/other");
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 30s));
  session.open();
  proxy_.lose_answer_to(test::opcode::kRead);
  EXPECT_EQ(change_value(session, {ChangeKind::create, "/a/v", "one"}, "cannot set /a/v").end, ChangeEnd::done);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(proxy_.requests(test::opcode::kSync), 2);
  EXPECT_EQ(observer_.read("/a/v").data, "one");
}

// Even a leader without a quorum answers a sync.
TEST_F(ChangeTest, WhatBecameOfALostWriteIsAskedBehindABarrier) {
  observer_.create("/v", "old");
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 30s));
  session.open();
  const int before = proxy_.requests(test::opcode::kTransaction);
  proxy_.lose_answer_to(test::opcode::kTransaction);
  EXPECT_EQ(change_value(session, {ChangeKind::remove, "/v"}, "cannot delete /v").end, ChangeEnd::done);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction) - before, 2);
}

// The write is sent repeatedly, because each look shows that it has not arrived. Then it arrives, and no answer
// comes.
TEST_F(ChangeTest, AWriteThatWasNotDoneAtFirstMayBeDoneWhenThereIsNoAnswer) {
  observer_.create("/v", "old");
  host::Loop loop;
  zk::SessionOptions options = test::options_for(through_proxy_, 9s);
  options.connect_timeout = 3s;
  zk::Session session(loop, options);
  session.open();
  proxy_.break_before(test::opcode::kTransaction);
  const Script script(loop, [&, barriers = 0, silent_from = kNever]() mutable {
    if (proxy_.is_refusing()) {
      // From then on, the connect timeout passes before the connection is given up.
      if (silent_from == kNever) silent_from = deadline_in(options.connect_timeout * 4 / 5);
      proxy_.accept_again();
    }
    // Each transaction that arrives is a barrier, after which the write is sent again.
    const int arrived = proxy_.requests(test::opcode::kTransaction);
    if (arrived == std::exchange(barriers, arrived)) return;
    if (left_until(silent_from) > Duration::zero()) return proxy_.break_before(test::opcode::kTransaction);
    proxy_.fall_silent_after(test::opcode::kTransaction);
  });
  const auto failure = support::failure_of([&] {
    change_value(session, {ChangeKind::set, "/v", "new"}, "cannot set /v");
  });
  proxy_.set(FaultProxy::Mode::pass);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status(), ExitStatus::unavailable);
  EXPECT_TRUE(failure->text().ends_with("; whether it was done is not known")) << failure->text();
}

}  // namespace change_test
}  // namespace zklock::recipe
