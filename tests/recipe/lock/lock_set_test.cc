// SPDX-License-Identifier: Apache-2.0
// Several locks as one, against real servers.
#include "recipe/lock/lock_set.h"

#include "recipe/lock/last_success.h"
#include "recipe/lock/lock.h"
#include "support/party.h"
#include "support/proxied.h"

#include <utility>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace lock_set_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

// A contender for these paths.
class Party : public test::Party {
 public:
  Party(const std::string& servers, const std::vector<std::string>& paths, Duration session_timeout = 4s)
      : test::Party(servers, session_timeout, [paths](zk::Session& with, WaitObserver& told) {
          test::Locks locks;
          for (const std::string& path : paths) {
            locks.push_back(std::make_unique<Lock>(with, path, LockType(), "data", told));
          }
          return locks;
        }) {}
};

class LockSetTest : public test::Proxied {
 protected:
  size_t contenders(const std::string& path) { return observer_.children(path).size(); }
};

// Accepts any data on a success's node.
bool is_any(const std::string&) {
  return true;
}

// The last lock is busy.
TEST_F(LockSetTest, WhenOneIsBusyTheOthersAreGivenBack) {
  Party holder(here_, {"/c"}, 30s), party(here_, {"/a", "/b", "/c"});
  holder.acquire();
  EXPECT_EQ(party.acquire(0s), Outcome::busy);
  EXPECT_EQ(party.lock.holder().path, "/c");
  EXPECT_EQ(contenders("/a") + contenders("/b"), 0u);
  EXPECT_EQ(contenders("/c"), 1u);
  EXPECT_EQ(party.acquire_within(200ms), Outcome::busy);
  EXPECT_EQ(contenders("/a") + contenders("/b"), 0u);
  holder.lock.release(20s);
  EXPECT_EQ(party.acquire(0s), Outcome::held);
  EXPECT_EQ(party.lock.held().size(), 3u);
  party.lock.release(20s);
  EXPECT_EQ(contenders("/a") + contenders("/b") + contenders("/c"), 0u);
}

// It is interrupted while it waits for the second lock.
TEST_F(LockSetTest, AnInterruptedWaitLeavesNothing) {
  Party holder(here_, {"/b"}, 30s), party(here_, {"/a", "/b"});
  holder.acquire();
  bool told = false;
  const Script script(party.loop, [&] {
    if (!told && contenders("/b") == 2) {
      told = true;
      throw Failure::by_signal(2);
    }
  });
  EXPECT_THROW(party.acquire(), Failure);
  EXPECT_EQ(contenders("/a"), 0u);
  EXPECT_EQ(contenders("/b"), 1u);
}

// The first lock is deleted while the party waits for the second.
TEST_F(LockSetTest, WhenOneIsLostWhileWaitingAllAreTakenAgain) {
  Party holder(here_, {"/b"}, 30s), party(here_, {"/a", "/b"});
  holder.acquire();
  std::string first;
  const Script script(party.loop, [&] {
    const auto names = observer_.children("/a");
    if (first.empty() && contenders("/b") == 2) {
      first = names.front();
      observer_.remove("/a/" + first);
    } else if (!first.empty() && !names.empty() && names.front() != first && contenders("/b") == 2) {
      holder.lock.release(20s);
    }
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  EXPECT_NE(party.lock.held().front().node, "/a/" + first);
  EXPECT_EQ(contenders("/a"), 1u);
  EXPECT_EQ(contenders("/b"), 1u);
}

TEST_F(LockSetTest, WhenTheSecondIsLostWhileWaitingForTheThirdAllAreTakenAgain) {
  Party holder(here_, {"/c"}, 30s), party(here_, {"/a", "/b", "/c"});
  holder.acquire();
  std::string second;
  const Script script(party.loop, [&] {
    const auto names = observer_.children("/b");
    if (second.empty() && contenders("/c") == 2) {
      second = names.front();
      observer_.remove("/b/" + second);
    } else if (!second.empty() && !names.empty() && names.front() != second && contenders("/c") == 2) {
      holder.lock.release(20s);
    }
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  EXPECT_NE(party.lock.held()[1].node, "/b/" + second);
  EXPECT_EQ(party.observer.disturbed, 1);
}

TEST_F(LockSetTest, TheOneThatWasDeletedIsNamedAfterwards) {
  Party party(here_, {"/a", "/b"});
  party.acquire();
  observer_.remove(party.lock.held()[1].node);
  EXPECT_TRUE(party.lock.release(20s));
  EXPECT_EQ(party.lock.deleted(), "/b");
}

// The session ends while the party waits for the second lock.
TEST_F(LockSetTest, AnExpiredSessionTakesAllAndAllAreTakenAgain) {
  Party holder(here_, {"/b"}, 30s);
  holder.acquire();
  Party party(through_proxy_, {"/a", "/b"}, 500ms);
  const int64_t old_session = party.session.id();
  Deadline back = kNever;
  const Script script(party.loop, [&] {
    if (back == kNever && contenders("/b") == 2) {
      proxy_.set(FaultProxy::Mode::silent);
      back = deadline_in(3 * party.session.timeout());
    }
    if (BootClock::now() > back) proxy_.set(FaultProxy::Mode::pass);
    if (party.observer.expired > 0 && contenders("/b") == 2) holder.lock.release(20s);
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  for (const Held& held : party.lock.held()) {
    EXPECT_NE(held.owner, old_session);
    EXPECT_EQ(observer_.read(held.node).stat.ephemeral_owner, party.session.id());
  }
}

// The session survives an outage, but the proof of the first lock does not. None of our old places may be in our way.
TEST_F(LockSetTest, AfterAnOutageAllAreTakenAgainAndTheOldPlacesAreGone) {
  Party holder(here_, {"/b"}, 30s);
  holder.acquire();
  Party party(through_proxy_, {"/a", "/b"}, 3s);
  int rests = 0;
  const Script script(party.loop, [&] {
    const bool sleeps = party.session.client().silent_since() == kNever && contenders("/b") == 2;
    if (sleeps && ++rests == 5) proxy_.set(FaultProxy::Mode::silent);
    if (party.observer.disturbed == 0) return;
    // The session still lives.
    proxy_.set(FaultProxy::Mode::pass);
    if (contenders("/b") == 2) holder.lock.release(20s);
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  EXPECT_EQ(party.observer.disturbed, 1);
  EXPECT_EQ(contenders("/a"), 1u);
  EXPECT_EQ(contenders("/b"), 1u);
}

// While we wait for the second lock, a quorum goes on confirming the first, so that both count from now.
TEST_F(LockSetTest, TheFirstIsProvedWhileWeWaitForTheSecond) {
  Party holder(here_, {"/b"}, 30s), party(here_, {"/a", "/b"}, 1s);
  holder.acquire();
  const Deadline began = BootClock::now();
  const Script script(party.loop, [&] {
    if (BootClock::now() > began + party.session.timeout() && contenders("/b") == 2) holder.lock.release(20s);
  });
  EXPECT_EQ(party.acquire(), Outcome::held);
  for (const Held& held : party.lock.held()) {
    EXPECT_GT(held.proved, BootClock::now() - party.session.timeout() / 2) << held.path;
  }
}

class LeaseOfSeveral : public LockSetTest {
 protected:
  static LeaseState end_of(Party& party, Lease& lease) {
    const host::Attached attached(party.loop, lease);
    test::eventually(party.loop, [&] { return lease.state() != LeaseState::held; });
    return lease.state();
  }
};

TEST_F(LeaseOfSeveral, EndsWithTheOneThatIsDeleted) {
  Party party(here_, {"/a", "/b"});
  party.acquire();
  Lease lease(party.session, party.lock.held(), 100ms);
  observer_.remove(party.lock.held()[1].node);
  EXPECT_EQ(end_of(party, lease), LeaseState::node_deleted);
  EXPECT_TRUE(lease.lost() == "/b" || lease.lost().empty()) << lease.lost();
}

TEST_F(LeaseOfSeveral, EachIsAskedAbout) {
  Party party(here_, {"/a", "/b"}, 30s);
  party.acquire();
  Lease lease(party.session, party.lock.held(), 100ms, LeaseWatch::nothing);
  observer_.remove(party.lock.held()[1].node);
  lease.ask();
  EXPECT_EQ(end_of(party, lease), LeaseState::node_deleted);
  EXPECT_EQ(lease.lost(), "") << "a heartbeat does not tell which";
}

TEST_F(LeaseOfSeveral, EndsWhenSomebodyAsksForOne) {
  Party party(here_, {"/a", "/b"});
  party.acquire();
  Lease lease(party.session, party.lock.held(), 100ms);
  observer_.write(party.lock.held()[1].node, std::string(kRevoked));
  EXPECT_EQ(end_of(party, lease), LeaseState::revoked);
  EXPECT_EQ(lease.lost(), "/b");
}

class OuterLockTest : public LockSetTest {
 protected:
  // /a has a holder, which another client sees through the proxy.
  OuterLockTest() {
    session_.open();
    outer_.acquire();
  }
  Held held() const { return outer_.held(); }

  Party outer_{here_, {"/a"}};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(through_proxy_, 10s)};
};

TEST_F(OuterLockTest, IsHeldAsLongAsItsNodeIsThere) {
  OuterLock lock(session_, held());
  EXPECT_EQ(lock.acquire({}), Outcome::held);
  observer_.remove(held().node);
  EXPECT_EQ(lock.acquire({}), Outcome::disturbed);
}

TEST_F(OuterLockTest, ItsProofCountsFromTheRequest) {
  OuterLock lock(session_, held());
  Deadline asked = kNever;
  const Script script(loop_, [&] {
    if (!proxy_.is_silent()) return;
    asked = std::min(asked, BootClock::now());
    if (BootClock::now() > asked + 200ms) proxy_.set(FaultProxy::Mode::pass);
  });
  proxy_.fall_silent_after(test::opcode::kTransaction);
  EXPECT_EQ(lock.acquire({}), Outcome::held);
  EXPECT_LE(lock.held().proved, asked);
  EXPECT_LT(asked, kNever);
}

TEST_F(OuterLockTest, ThatItIsGoneShowsAtTheEndThoughAnAnswerIsLost) {
  OuterLock lock(session_, held());
  EXPECT_EQ(lock.acquire({}), Outcome::held);
  observer_.remove(held().node);
  proxy_.lose_answer_to(test::opcode::kTransaction);
  EXPECT_TRUE(lock.release(20s));
  EXPECT_TRUE(lock.was_deleted());
  EXPECT_EQ(proxy_.lost(), 1);
}

class LastSuccessTest : public LockSetTest {
 protected:
  std::string last(const std::string& path) { return observer_.read(path + ".last").data; }

  // It reads the success when it makes its node.
  static test::Locks at_a(zk::Session& with, WaitObserver& told) {
    auto lock = std::make_unique<Lock>(with, "/a", LockType(), "data", told);
    lock->set_besides({read_of_success("/a")});
    return test::locks_of(std::move(lock));
  }
};

TEST_F(LastSuccessTest, IsReadInTheFlightThatMakesOurNode) {
  for (const char* node : {"/a", "/a.last"}) observer_.create(node);
  test::Party party(through_proxy_, 30s, at_a);
  ASSERT_EQ(party.acquire(), Outcome::held);
  LastSuccess success(party.session, party.lock.held(), "text", is_any);
  EXPECT_TRUE(success.age());
  EXPECT_EQ(proxy_.requests(test::opcode::kRead), 1);
}

TEST_F(LastSuccessTest, IsReadAgainIfTheAnswerIsLost) {
  for (const char* node : {"/a", "/a.last"}) observer_.create(node);
  test::Party party(through_proxy_, 30s, at_a);
  proxy_.lose_answer_to(test::opcode::kRead);
  ASSERT_EQ(party.acquire(), Outcome::held);
  LastSuccess success(party.session, party.lock.held(), "text", is_any);
  EXPECT_TRUE(success.age());
  EXPECT_EQ(proxy_.lost(), 1);
}

// It comes after that read.
TEST_F(LastSuccessTest, OfTheHolderThatWeHaveWaitedForIsNotMissed) {
  Party holder(here_, {"/a"}, 30s);
  holder.acquire();
  test::Party waiter(here_, 30s, at_a);
  const uint64_t answers = waiter.session.client().answers();
  bool recorded = false;
  const Script script(waiter.loop, [&] {
    // The requests are: create, list, read the success.
    if (waiter.session.client().answers() < answers + 3 || std::exchange(recorded, true)) return;
    LastSuccess success(holder.session, holder.lock.held(), "text", is_any);
    success.age();
    EXPECT_TRUE(success.record(20s));
  });
  ASSERT_EQ(waiter.acquire(), Outcome::held);
  EXPECT_TRUE(recorded);
  LastSuccess success(waiter.session, waiter.lock.held(), "next", is_any);
  EXPECT_TRUE(success.age());
}

TEST_F(LastSuccessTest, IsRecordedInTheTransactionThatLetsGo) {
  Party party(here_, {"/a", "/b"});
  for (const std::string run : {"first", "second"}) {
    party.acquire();
    LastSuccess success(party.session, party.lock.held(), run, is_any);
    EXPECT_EQ(success.age().has_value(), run == "second");
    EXPECT_TRUE(success.record(20s));
    EXPECT_EQ(last("/a"), run);
    EXPECT_EQ(last("/b"), run);
    EXPECT_EQ(contenders("/a") + contenders("/b"), 0u);
  }
}

TEST_F(LastSuccessTest, IsNotRecordedByWhoHasLostTheLock) {
  Party party(here_, {"/a", "/b"});
  party.acquire();
  LastSuccess success(party.session, party.lock.held(), "text", is_any);
  success.age();
  observer_.remove(party.lock.held()[1].node);
  const Deadline began = BootClock::now();
  EXPECT_FALSE(success.record(20s));
  EXPECT_LT(BootClock::now() - began, 10s) << "tried in vain";
  EXPECT_EQ(observer_.read("/a.last").code, zk::Code::no_node);
  EXPECT_EQ(contenders("/a"), 1u);
}

// A run under one of the locks counts for all.
TEST_F(LastSuccessTest, TheYoungestCounts) {
  for (const char* node : {"/a.last", "/b.last", "/c.last"}) observer_.create(node);
  Party party(here_, {"/a", "/b", "/c"});
  const Deadline began = BootClock::now();
  party.acquire();
  std::vector<Held> held = party.lock.held();
  // Makes their neighbours look hours older.
  held[0].created_ms += 2h / 1ms;
  held[2].created_ms += 1h / 1ms;
  LastSuccess success(party.session, held, "text", is_any);
  const auto age = success.age();
  const Duration took = BootClock::now() - began;
  const std::chrono::milliseconds of_b(held[1].created_ms - observer_.read("/b.last").stat.modified_ms);
  ASSERT_TRUE(age);
  EXPECT_GE(*age, of_b);
  EXPECT_LE(*age, of_b + took) << "with the time since our node was made";
}

TEST_F(LastSuccessTest, WhatCameAfterOurPlaceIsYoungerThanItWhateverTheClocksSay) {
  Party party(here_, {"/a"});
  const Deadline began = BootClock::now();
  party.acquire();
  observer_.create("/a.last");
  for (const std::chrono::milliseconds wrong : {-1h, 1h}) {
    std::vector<Held> held = party.lock.held();
    held[0].created_ms += wrong.count();
    LastSuccess success(party.session, held, "text", is_any);
    const auto age = success.age();
    ASSERT_TRUE(age);
    EXPECT_GE(*age, Duration::zero());
    EXPECT_LE(*age, BootClock::now() - began);
    EXPECT_EQ(success.ahead(), Duration::zero());
  }
}

TEST_F(LastSuccessTest, ALostAnswerIsLookedUp) {
  Party party(through_proxy_, {"/a"});
  party.acquire();
  LastSuccess success(party.session, party.lock.held(), "text", is_any);
  success.age();
  proxy_.lose_next_answer();
  EXPECT_TRUE(success.record(20s));
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(last("/a"), "text");
}

// Another client has removed or made the record since we looked.
TEST_F(LastSuccessTest, ARecordThatComesOrGoesMeanwhileIsNoObstacle) {
  Party party(here_, {"/a"});
  party.acquire();
  LastSuccess first(party.session, party.lock.held(), "first", is_any);
  first.age();
  observer_.create("/a.last");
  EXPECT_TRUE(first.record(20s));
  EXPECT_EQ(last("/a"), "first");
  party.acquire();
  LastSuccess second(party.session, party.lock.held(), "second", is_any);
  second.age();
  observer_.remove("/a.last");
  EXPECT_TRUE(second.record(20s));
  EXPECT_EQ(last("/a"), "second");
}

}  // namespace lock_set_test
}  // namespace zklock::recipe
