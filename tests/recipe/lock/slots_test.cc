// SPDX-License-Identifier: Apache-2.0
// recipe/lock/slots against real servers, through a failing proxy.
#include "recipe/lock/slots.h"

#include "support/party.h"
#include "support/proxied.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace slots_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

// A contender for one of so many slots at /s, whose data is their number.
class Party : public test::Party {
 public:
  explicit Party(const std::string& servers, int64_t count = 2, Duration session_timeout = 4s)
      : test::Party(servers, session_timeout, [count](zk::Session& with, WaitObserver& told) {
          const auto slots_in = [](const std::string& data) { return std::atoll(data.c_str()); };
          return test::locks_of(std::make_unique<Slots>(with, "/s", count, slots_in, std::to_string(count), told));
        }) {}
};

class SlotsTest : public test::Proxied {
 protected:
  size_t leases() { return observer_.children("/s/leases").size(); }
  size_t at_gate() { return observer_.children("/s/locks").size(); }

  ExitStatus refusal(test::Party& party) {
    try {
      party.acquire(0s);
    } catch (const Failure& failure) {
      text_ = failure.text();
      return failure.status();
    }
    return ExitStatus::done;
  }

  std::string text_;
};

TEST_F(SlotsTest, SoManyHoldOneAndNoMore) {
  Party a(here_), b(here_), c(here_);
  EXPECT_EQ(a.acquire(0s), Outcome::held);
  EXPECT_EQ(b.acquire(0s), Outcome::held);
  EXPECT_EQ(c.acquire(0s), Outcome::busy);
  EXPECT_EQ(c.lock.holder().slots, 2);
  EXPECT_EQ(leases(), 2u);
  EXPECT_EQ(at_gate(), 0u);
  a.lock.release(20s);
  EXPECT_EQ(c.acquire(0s), Outcome::held);
  EXPECT_GT(c.held().token, b.held().token);
}

TEST_F(SlotsTest, WhoeverLetsGoLetsTheWaiterIn) {
  Party a(here_), b(here_), waiter(here_);
  a.acquire();
  b.acquire();
  bool released = false;
  const Script script(waiter.loop, [&] {
    if (released || leases() < 3) return;
    released = true;
    b.lock.release(20s);
  });
  EXPECT_EQ(waiter.acquire(), Outcome::held);
  EXPECT_TRUE(released);
  EXPECT_EQ(at_gate(), 0u);
}

// The waiter sleeps already.
TEST_F(SlotsTest, AWaiterIsWokenWhenSomebodyLetsGo) {
  Party holder(here_, 1), waiter(here_, 1);
  holder.acquire();
  int rests = 0;
  const Script script(waiter.loop, [&] {
    const bool sleeps = waiter.session.client().silent_since() == kNever && leases() == 2;
    if (sleeps && ++rests == 5) holder.lock.release(20s);
  });
  EXPECT_EQ(waiter.acquire_within(waiter.session.timeout() * 4), Outcome::held);
}

// Contenders at the gate may take a slot each; without them, one is left.
TEST_F(SlotsTest, WithoutWaitingItIsBusyOnlyWhenThoseBeforeUsMayTakeThemAll) {
  Party a(here_, 3);
  a.acquire();
  zk::Session& other = observer_.session();
  other.await(other.client().create("/s/locks/x-1-", "", zk::CreateMode::ephemeral_sequential));
  Party b(here_, 2);
  EXPECT_EQ(b.acquire(0s), Outcome::busy);
  EXPECT_EQ(leases(), 1u);
}

// A contender that has passed the gate has both its nodes for a moment.
TEST_F(SlotsTest, WhoIsAboutToLeaveTheGateCountsOnce) {
  Party(here_).acquire();  // makes the nodes
  const std::string name = "_c_01234567-89ab-4def-8123-456789abcdef-";
  zk::Session& other = observer_.session();
  const auto make = [&](const std::string& stem) {
    return other.await(other.client().create(stem, "", zk::CreateMode::ephemeral_sequential)).path;
  };
  const std::string gate = make("/s/locks/" + name + "lock-");
  make("/s/leases/" + name + "lease-");
  Party party(here_, 2);
  // Waits until the party has listed the gate, or it would find the gate empty.
  const Script script(party.loop, [&, turns = 0]() mutable {
    if (at_gate() == 2 && ++turns == 20) observer_.remove(gate);
  });
  EXPECT_EQ(party.acquire(0s), Outcome::held);
}

// Another contender comes between our looks. It makes its node before it looks around, so one of us sees the other.
TEST_F(SlotsTest, AContenderForALockOfOneThatComesMeanwhileIsNotMissed) {
  Party(here_).acquire();
  Party party(here_);
  bool came = false;
  const Script script(party.loop, [&] {
    if (came || at_gate() == 0) return;
    came = true;
    zk::Session& other = observer_.session();
    const std::string stem = "/s/_c_01234567-89ab-4def-8123-456789abcdef-lock-";
    other.await(other.client().create(stem, "", zk::CreateMode::ephemeral_sequential));
  });
  EXPECT_THROW(party.acquire(), Failure);
  EXPECT_TRUE(came);
  EXPECT_EQ(leases() + at_gate(), 0u);
}

// Its slot and the end of its place in the gate go together, as nobody has a slot. But another one, which has not come
// through the gate, is faster.
TEST_F(SlotsTest, WhoHasLeftTheGateTooEarlyDoesNotWaitOutsideIt) {
  Party(here_, 1).acquire();  // makes the nodes
  Party party(here_, 1);
  const uint64_t answers = party.session.client().answers();
  std::string slot;
  const Script script(party.loop, [&] {
    // The requests are: list the path; create, list the gate; list the slots.
    if (slot.empty() && party.session.client().answers() >= answers + 4) {
      zk::Session& other = observer_.session();
      const std::string stem = "/s/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-";
      slot = other.await(other.client().create(stem, "1", zk::CreateMode::ephemeral_sequential)).path;
    } else if (party.observer.disturbed > 0 && leases() == 2) {
      EXPECT_EQ(at_gate(), 1u);
      observer_.remove(slot);
    }
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  EXPECT_EQ(party.observer.disturbed, 1);
  EXPECT_EQ(leases(), 1u);
  EXPECT_EQ(at_gate(), 0u);
}

TEST_F(SlotsTest, AnotherNumberIsRefusedWithBoth) {
  Party a(here_, 2), b(here_, 3);
  a.acquire();
  EXPECT_EQ(refusal(b), ExitStatus::bad_data);
  EXPECT_NE(text_.find("--slots 2, not 3"), std::string::npos) << text_;
  EXPECT_EQ(leases(), 1u);
  EXPECT_EQ(at_gate(), 0u);
}

// The last contender before us may be Curator's, which does not give the number.
TEST_F(SlotsTest, AnotherNumberIsFoundBehindALeaseThatDoesNotSay) {
  Party a(here_, 5);
  a.acquire();
  observer_.create("/s/leases/_c_curator-lease-0000000001", "vm");
  Party b(here_, 3);
  EXPECT_EQ(refusal(b), ExitStatus::bad_data);
  EXPECT_NE(text_.find("--slots 5, not 3"), std::string::npos) << text_;
}

TEST_F(SlotsTest, ALockOfOneIsRefusedAndGoesOn) {
  const auto one = [this] {
    return test::Party(here_, 4s, [](zk::Session& with, WaitObserver& told) {
      return test::locks_of(std::make_unique<Lock>(with, "/s", LockType(), "data", told));
    });
  };
  auto first = one(), second = one();
  EXPECT_EQ(first.acquire(0s), Outcome::held);
  Party party(here_);
  EXPECT_EQ(refusal(party), ExitStatus::bad_data);
  for (const char* folder : {"/s/leases", "/s/locks"}) EXPECT_EQ(observer_.read(folder).code, zk::Code::no_node);
  EXPECT_EQ(second.acquire(0s), Outcome::busy);
  first.lock.release(20s);
  EXPECT_EQ(second.acquire(0s), Outcome::held);
}

TEST_F(SlotsTest, TheirPathIsNoLockOfOneWhileSomebodyHasASlot) {
  Party party(here_);
  party.acquire();
  test::Party one(here_, 4s, [](zk::Session& with, WaitObserver& told) {
    return test::locks_of(std::make_unique<Lock>(with, "/s", LockType(), "data", told));
  });
  EXPECT_EQ(refusal(one), ExitStatus::bad_data);
  party.lock.release(20s);
  EXPECT_EQ(one.acquire(0s), Outcome::held);
}

// It is interrupted at every turn on the way in, from the first request on.
TEST_F(SlotsTest, AnInterruptedEntryLeavesNothing) {
  Party holder(here_, 1, 30s);
  holder.acquire();
  for (int turns = 1; turns <= 12; ++turns) {
    Party party(here_, 1);
    int left = turns;
    const Script script(party.loop, [&] {
      if (--left == 0) throw Failure::by_signal(2);
    });
    EXPECT_THROW(party.acquire(), Failure);
    party.session.close();
    EXPECT_EQ(leases(), 1u) << "after " << turns << " turns";
    EXPECT_EQ(at_gate(), 0u) << "after " << turns << " turns";
  }
}

// Its patience ends after its lease was made.
TEST_F(SlotsTest, ATimeoutLeavesNothing) {
  Party holder(here_, 1, 30s), party(here_, 1);
  holder.acquire();
  EXPECT_EQ(party.acquire_within(100ms), Outcome::busy);
  EXPECT_EQ(leases(), 1u);
  EXPECT_EQ(at_gate(), 0u);
}

// The lease is made, but the answer is lost.
TEST_F(SlotsTest, ALostAnswerLeavesOneLease) {
  Party(here_).acquire();  // makes the nodes
  // Loses the first answers, which are those of the lists and of the gate's create, then that of the lease's create.
  for (int answer = 0; answer < 4; ++answer) {
    Party party(through_proxy_);
    const uint64_t before = party.session.client().answers() + static_cast<uint64_t>(answer);
    const int lost = proxy_.lost();
    bool told = false;
    // Counts answers, not turns: a busy machine has turns in which none comes.
    const Script script(party.loop, [&] {
      if (!std::exchange(told, told || party.session.client().answers() >= before) && told) proxy_.lose_next_answer();
    });
    EXPECT_EQ(party.acquire(), Outcome::held);
    EXPECT_EQ(proxy_.lost(), lost + 1);
    EXPECT_EQ(leases(), 1u);
    EXPECT_EQ(at_gate(), 0u);
    EXPECT_EQ(observer_.read(party.held().node).stat.ephemeral_owner, party.session.id());
    party.lock.release(20s);
  }
}

// The session ends while the party waits in the gate.
TEST_F(SlotsTest, AWaiterWhoseSessionExpiredTakesANewPlace) {
  Party holder(here_, 1, 30s);
  holder.acquire();
  Party waiter(through_proxy_, 1, 500ms);
  Deadline back = kNever;
  const Script script(waiter.loop, [&] {
    if (back == kNever && leases() == 2) {
      proxy_.set(FaultProxy::Mode::silent);
      back = deadline_in(3 * waiter.session.timeout());
    }
    if (BootClock::now() > back) proxy_.set(FaultProxy::Mode::pass);
    if (waiter.observer.expired > 0 && leases() == 2) holder.lock.release(20s);
  });
  EXPECT_EQ(waiter.acquire(), Outcome::held);
  EXPECT_EQ(waiter.observer.expired, 1);
  EXPECT_EQ(leases(), 1u);
  EXPECT_EQ(at_gate(), 0u);
}

TEST_F(SlotsTest, AReleaseDuringADisconnectIsNotMissed) {
  Party holder(here_, 1, 30s);
  holder.acquire();
  Party waiter(through_proxy_, 1);
  bool released = false;
  const Script script(waiter.loop, [&] {
    if (released || leases() < 2) return;
    released = true;
    proxy_.cut(true);
    holder.lock.release(20s);
    proxy_.accept_again();
  });
  EXPECT_EQ(waiter.acquire(), Outcome::held);
}

TEST_F(SlotsTest, ALeaseThatWasRemovedIsNoLongerWaitedFor) {
  Party holder(here_, 1, 30s), waiter(here_, 1);
  holder.acquire();
  const Script script(waiter.loop, [&] {
    for (const std::string& name : observer_.children("/s/leases")) {
      if ("/s/leases/" + name != holder.held().node) observer_.remove("/s/leases/" + name);
    }
  });
  EXPECT_EQ(waiter.acquire(), Outcome::removed);
  EXPECT_EQ(at_gate(), 0u);
}

}  // namespace slots_test
}  // namespace zklock::recipe
