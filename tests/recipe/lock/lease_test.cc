// SPDX-License-Identifier: Apache-2.0
// Proofs of a lock, and when they begin: with answers that are late, lost, refused, or grant another timeout.
#include "recipe/lock/lease.h"

#include "recipe/lock/lock.h"
#include "support/party.h"
#include "support/proxied.h"

#include <optional>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace lease_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;
namespace opcode = test::opcode;

constexpr int kThrottled = -127;
constexpr Duration kHeldBack = 100ms;

// A contender for /l.
class Party : public test::Party {
 public:
  explicit Party(const std::string& servers, Duration session_timeout)
      : test::Party(servers, session_timeout, [](zk::Session& with, WaitObserver& told) {
          return test::locks_of(std::make_unique<Lock>(with, "/l", LockType(), "data", told));
        }) {}
};

class LeaseProof : public test::Proxied {
 protected:
  // Makes the lock's node before, so that the create is the first request.
  Party& enter(Duration session_timeout) {
    Party first(here_, 4s);
    first.acquire();
    first.lock.release(20s);
    return party_.emplace(through_proxy_, session_timeout);
  }
  Party& acquire(Duration session_timeout) {
    EXPECT_EQ(enter(session_timeout).acquire(), Outcome::held);
    return *party_;
  }
  Lease& lease(LeaseWatch watched = LeaseWatch::nothing) {
    lease_.emplace(party_->session, party_->lock.held(), party_->session.timeout() / 10, watched);
    holding_.emplace(party_->loop, *lease_);
    return *lease_;
  }

  // Delays the answer to the next request with that opcode, for less than a heartbeat's time: an older answer proves
  // nothing, and the request is sent again. Sets `asked_` to the request's time.
  void delay_answer_to(int op) {
    proxy_.fall_silent_after(op);
    delay_.emplace(party_->loop, [this] {
      if (!proxy_.is_silent()) return;
      asked_ = std::min(asked_, BootClock::now());
      if (BootClock::now() > asked_ + kHeldBack) proxy_.set(FaultProxy::Mode::pass);
    });
  }

  std::optional<Party> party_;
  std::optional<Lease> lease_;
  std::optional<host::Attached> holding_;
  std::optional<Script> delay_;
  Deadline asked_ = kNever;
};

TEST_F(LeaseProof, CountsFromTheRequestAndNotFromTheAnswer) {
  Party& party = acquire(6s);
  Lease& lease = this->lease();
  const Deadline before = lease.proved();
  delay_answer_to(opcode::kTransaction);
  lease.ask();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.proved() > before; }));
  EXPECT_LE(lease.proved(), asked_);
  EXPECT_LE(lease.fence(), asked_ + party.session.timeout() * 2 / 3);
}

TEST_F(LeaseProof, OfAGrantCountsFromTheCreateAndNotFromItsAnswer) {
  Party& party = enter(6s);
  delay_answer_to(opcode::kCreate);
  ASSERT_EQ(party.acquire(), Outcome::held);
  EXPECT_LE(party.held().proved, asked_);
  EXPECT_LT(asked_, kNever);
}

TEST_F(LeaseProof, OfAGrantAfterALongWaitCountsFromTheCheckAndNotFromItsAnswer) {
  Party& party = enter(6s);
  Party holder(here_, 4s);
  holder.acquire();
  const Deadline release_at = deadline_in(party.session.timeout() / 4);
  bool released = false;
  const Script script(party.loop, [&] {
    if (BootClock::now() < release_at || std::exchange(released, true)) return;
    delay_answer_to(opcode::kTransaction);
    holder.lock.release(20s);
  });
  ASSERT_EQ(party.acquire(), Outcome::held);
  EXPECT_LE(party.held().proved, asked_);
  EXPECT_LT(asked_, kNever) << "no quorum was asked";
}

// The leader may not have heard yet of requests sent so soon after it.
TEST_F(LeaseProof, AfterASlowAnswerCountsNoMoreThanWhatTheLeaderHasSurelyHeard) {
  Party& party = acquire(6s);
  const zk::Client& client = party.session.client();
  const Duration timeout = party.session.timeout();
  Lease& lease = this->lease();
  const auto pass_until = [&](Deadline until) {
    while (BootClock::now() < until) party.loop.turn(until);
  };
  proxy_.set(test::FaultProxy::Mode::silent);
  pass_until(deadline_in(10ms));  // until it is silent
  const Deadline before = client.last_answered_sent();
  const uint64_t connections = client.connections();
  pass_until(before + timeout / 4);
  proxy_.set(test::FaultProxy::Mode::pass);
  pass_until(before + timeout * 3 / 8);
  const int asked = proxy_.requests(opcode::kTransaction);
  lease.ask();
  ASSERT_TRUE(test::eventually(
      party.loop, [&] { return proxy_.requests(opcode::kTransaction) > asked && client.silent_since() == kNever; }));
  // If this process was held up, there is a new connection, whose handshake tells the leader.
  EXPECT_TRUE(lease.proved() <= before + timeout / 3 || client.connections() > connections);
}

TEST_F(LeaseProof, IsAskedForAtOnceAfterAReconnect) {
  Party& party = acquire(30s);
  Lease& lease = this->lease();
  const Deadline before = lease.proved();
  proxy_.cut();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.proved() > before; }));
  EXPECT_LT(BootClock::now(), before + party.session.timeout() / 8) << "only with the next beat";
}

TEST_F(LeaseProof, IsAskedForWhileAnOlderOneIsUnderWay) {
  Party& party = acquire(30s);
  Lease& lease = this->lease();
  delay_answer_to(opcode::kTransaction);
  lease.ask();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return proxy_.requests(opcode::kTransaction) == 1; }));
  const Deadline since = BootClock::now();
  ASSERT_LT(lease.proved(), since);
  lease.ask();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.proved() >= since; }));
  EXPECT_LT(BootClock::now(), since + party.session.timeout() / 8) << "only with the next beat";
}

TEST_F(LeaseProof, AfterAnAnswerThatSaysNothingIsAskedForSoonAndNotAtOnce) {
  Party& party = acquire(30s);
  Lease& lease = this->lease();
  proxy_.answer_with(opcode::kTransaction, kThrottled);
  const Deadline asked = BootClock::now();
  lease.ask();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.proved() > asked; }));
  ASSERT_TRUE(test::eventually(party.loop, [&] { return proxy_.requests(opcode::kTransaction) == 2; }));
  EXPECT_GE(lease.proved(), asked + party.session.timeout() / 60);
  EXPECT_LT(lease.proved(), asked + party.session.timeout() / 8);
  EXPECT_EQ(party.session.client().connections(), 1u);
}

// The servers may change the timeout that they grant. By the new one, the old proof may be worth less, never more.
TEST_F(LeaseProof, WithAnotherTimeoutIsWorthLessAtOnceAndMoreFromTheNextOneOn) {
  Party& party = acquire(20s);
  Lease& lease = this->lease();
  const auto fence_behind_reconnect = [&](std::chrono::milliseconds granted) {
    const uint64_t connections = party.session.client().connections();
    const Deadline before = lease.proved();
    std::optional<Deadline> fence;
    const Script script(party.loop, [&] {
      if (party.session.client().connections() == connections || fence) return;
      EXPECT_EQ(lease.proved(), before) << "too late to see";
      fence = lease.fence();
    });
    proxy_.grant(granted);
    proxy_.cut();
    EXPECT_TRUE(test::eventually(party.loop, [&] { return fence && lease.proved() > before; }));
    EXPECT_EQ(party.session.timeout(), granted);
    return *fence - before;
  };
  EXPECT_EQ(fence_behind_reconnect(12s), 8s);
  EXPECT_EQ(lease.fence(), lease.proved() + 8s);
  EXPECT_EQ(fence_behind_reconnect(18s), 8s);
  EXPECT_EQ(lease.fence(), lease.proved() + 12s);
}

TEST_F(LeaseProof, ANodeOfItsNameThatIsAnothersIsNotOurs) {
  Party& party = acquire(30s);
  observer_.remove(party.held().node);
  observer_.create(party.held().node);
  Lease& lease = this->lease(LeaseWatch::nodes);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.state() != LeaseState::held; }));
  EXPECT_EQ(lease.state(), LeaseState::node_deleted);
}

TEST_F(LeaseProof, AWatchWhoseAnswerIsLostIsSetAgain) {
  Party& party = acquire(30s);
  proxy_.lose_answer_to(opcode::kRead);
  Lease& lease = this->lease(LeaseWatch::nodes);
  ASSERT_TRUE(test::eventually(party.loop, [&] {
    const zk::Client& client = party.session.client();
    return proxy_.lost() == 1 && client.connections() == 2 && client.silent_since() == kNever;
  }));
  observer_.write(party.held().node, std::string(kRevoked));
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.state() != LeaseState::held; }));
  EXPECT_EQ(lease.state(), LeaseState::revoked);
}

TEST_F(LeaseProof, AHeartbeatTellsOfADeletionThatNobodyWatches) {
  Party& party = acquire(30s);
  Lease& lease = this->lease();
  observer_.remove(party.held().node);
  lease.ask();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return lease.state() != LeaseState::held; }));
  EXPECT_EQ(lease.state(), LeaseState::node_deleted);
  EXPECT_EQ(lease.lost(), "/l");
}

}  // namespace lease_test
}  // namespace zklock::recipe
