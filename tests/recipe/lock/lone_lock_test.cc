// SPDX-License-Identifier: Apache-2.0
// A lock without the set around it, which cleans up too: what it leaves behind, and which nodes it takes for its own.
#include "recipe/lock/lock.h"
#include "support/party.h"
#include "support/proxied.h"
#include "zk/timing.h"

#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace lone_lock_test {

using namespace std::chrono_literals;
using test::Script;
namespace opcode = test::opcode;

class LoneLock : public test::Proxied {
 protected:
  LoneLock() { session_.open(); }
  Lock lock_in(zk::Session& session) { return {session, "/l", LockType(), "data", told_}; }
  size_t contenders() { return observer_.children("/l").size(); }
  bool rests() { return session_.connected() && session_.client().silent_since() == kNever; }

  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(through_proxy_)};
  test::CountingObserver told_;
};

TEST_F(LoneLock, ThatIsBusyLeavesNoNode) {
  Lock holder = lock_in(observer_.session()), lock = lock_in(session_);
  ASSERT_EQ(holder.acquire({}), Outcome::held);
  EXPECT_EQ(lock.acquire({false}), Outcome::busy);
  EXPECT_EQ(contenders(), 1u);
}

// It has left the line already when it hears that the holder is gone.
TEST_F(LoneLock, WhoseHolderGoesWhileItLeavesTakesAnotherPlace) {
  Lock holder = lock_in(observer_.session()), lock = lock_in(session_);
  ASSERT_EQ(holder.acquire({}), Outcome::held);
  const uint64_t answers = session_.client().answers();
  bool released = false;
  const Script script(loop_, [&] {
    // The requests are: create, list.
    if (session_.client().answers() < answers + 2 || std::exchange(released, true)) return;
    holder.release(20s);
  });
  EXPECT_EQ(lock.acquire({false}), Outcome::held);
  EXPECT_EQ(contenders(), 1u);
}

TEST_F(LoneLock, WhoseWaitIsInterruptedLeavesNoNode) {
  Lock holder = lock_in(observer_.session()), lock = lock_in(session_);
  ASSERT_EQ(holder.acquire({}), Outcome::held);
  bool thrown = false;
  const Script script(loop_, [&] {
    if (contenders() == 2 && !std::exchange(thrown, true)) throw Failure::by_signal(2);
  });
  EXPECT_THROW(lock.acquire({}), Failure);
  EXPECT_EQ(contenders(), 1u);
}

// Otherwise its command would have hardly any time. A busy machine may hold up the process.
TEST_F(LoneLock, WhoseGrantWasHeldUpIsProvedOnceMore) {
  observer_.create("/l");
  const Duration heartbeat = zk::heartbeat_of(session_.timeout());
  bool held_up = false;
  const Script script(loop_, [&] {
    if (proxy_.is_silent() && !std::exchange(held_up, true)) {
      proxy_.set(test::FaultProxy::Mode::pass);
      std::this_thread::sleep_for(heartbeat);
    }
  });
  proxy_.fall_silent_after(opcode::kCreate);
  Lock lock = lock_in(session_);
  ASSERT_EQ(lock.acquire({}), Outcome::held);
  EXPECT_TRUE(held_up);
  EXPECT_LT(BootClock::now() - lock.held().proved, heartbeat);
}

// The delay may also happen while it looks at a folder that slots have left.
TEST_F(LoneLock, WhoseLookForSlotsWasHeldUpIsProvedOnceMore) {
  observer_.create("/l/leases");
  const Duration heartbeat = zk::heartbeat_of(session_.timeout());
  int lists = 0;
  const Script script(loop_, [&] {
    if (proxy_.requests(opcode::kChildren) < 2 || lists++ > 0) return;
    std::this_thread::sleep_for(heartbeat);
  });
  Lock lock = lock_in(session_);
  ASSERT_EQ(lock.acquire({}), Outcome::held);
  EXPECT_GT(lists, 0);
  EXPECT_LT(BootClock::now() - lock.held().proved, heartbeat);
}

// The request was lost, so our node was not made; another node of our session is there.
TEST_F(LoneLock, WhoseNodeWasNotMadeTakesNoOtherOfItsSessionForIt) {
  Lock holder = lock_in(session_), lock = lock_in(session_);
  ASSERT_EQ(holder.acquire({}), Outcome::held);
  bool broken = false;
  const Script script(loop_, [&] {
    if (proxy_.is_refusing() && !std::exchange(broken, true)) proxy_.accept_again();
  });
  proxy_.break_before(opcode::kCreate);
  EXPECT_EQ(lock.acquire({false}), Outcome::busy);
  EXPECT_TRUE(broken);
  EXPECT_EQ(contenders(), 1u);
}

// ClickHouse Keeper answers requests so that it drops when it stops: the node may be made, and the session lives.
TEST_F(LoneLock, WhoseCreateIsAnsweredWithTheEndOfItsSessionFindsItsNode) {
  observer_.create("/l");
  Lock lock = lock_in(session_);
  const int64_t id = session_.id();
  proxy_.answer_with(opcode::kCreate, zk::kSaysExpired);
  // This transaction asks whether the session is local.
  proxy_.answer_with(opcode::kTransaction, zk::kSaysExpired);
  EXPECT_EQ(lock.acquire({false}), Outcome::held);
  EXPECT_EQ(session_.id(), id);
  EXPECT_EQ(contenders(), 1u);
}

// The contender before us goes. The answer about the next one is lost, and its watch too; our own node's stays.
TEST_F(LoneLock, ThatWasNotToldOfTheOneBeforeItAsksAgain) {
  Lock holder = lock_in(observer_.session()), middle = lock_in(observer_.session()), lock = lock_in(session_);
  ASSERT_EQ(holder.acquire({}), Outcome::held);
  ASSERT_FALSE(middle.enter());
  const uint64_t answers = session_.client().answers();
  int reads = 0;
  bool released = false;
  const Script script(loop_, [&] {
    // The requests are: create, list, read its own node, and the one before it.
    if (session_.client().answers() < answers + 4 || !rests() || released) return;
    if (reads == 0) {
      reads = proxy_.requests(opcode::kRead);
      proxy_.lose_answer_to(opcode::kRead);
      middle.release(20s);
    } else if (proxy_.requests(opcode::kRead) >= reads + 2) {
      released = true;
      holder.release(20s);
    }
  });
  EXPECT_EQ(lock.acquire({}), Outcome::held);
  EXPECT_TRUE(released) << "held beside the other one";
}

// Another request would not help.
TEST_F(LoneLock, ThatMayNotBeGivenBackSaysSoAtOnce) {
  constexpr int kNoAuth = -102;
  Lock lock = lock_in(session_);
  ASSERT_EQ(lock.acquire({}), Outcome::held);
  proxy_.answer_with(opcode::kRemove, kNoAuth);
  EXPECT_FALSE(lock.release(20s));
  EXPECT_EQ(proxy_.requests(opcode::kRemove), 1);
  EXPECT_THROW(lock.check_refusal(), Failure);
}

}  // namespace lone_lock_test
}  // namespace zklock::recipe
