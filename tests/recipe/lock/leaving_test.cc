// SPDX-License-Identifier: Apache-2.0
// A client leaves a line that it no longer needs. Either another one closes its session, so that it loses what it
// holds; or no server is there for a while, and the contenders after it wait in vain.
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "support/party.h"
#include "support/proxied.h"
#include "zk/link.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace leaving_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Locks;
using test::Party;
using test::Script;
namespace opcode = test::opcode;

// Closes the session as the guard of a killed zklock does.
void close_session(const std::string& server, zk::Session& session) {
  const size_t colon = server.rfind(':');
  zk::SessionOptions options = session.options();
  options.session_timeout = 10s;
  host::Loop loop;
  zk::Client client(options, {session.id(), session.client().password()});
  zk::Link link(client, {{server.substr(0, colon), static_cast<uint16_t>(std::stoi(server.substr(colon + 1)))}});
  const host::Attached attached(loop, link);
  ASSERT_TRUE(test::eventually(loop, [&] { return client.state() == zk::ClientState::connected; }));
}

class ClosedSession : public test::Proxied {
 protected:
  // Closes the session when the first delete is on its way.
  void expect_new_place(const test::MakeLocks& make) {
    Party party(through_proxy_, 30s, make);
    const int64_t first = party.session.id();
    bool closed = false;
    const Script script(party.loop, [&] {
      if (closed || !proxy_.is_silent()) return;
      closed = true;
      close_session(server_, party.session);
      proxy_.cut();
      proxy_.set(FaultProxy::Mode::pass);
    });
    proxy_.fall_silent_after(opcode::kRemove);
    EXPECT_EQ(party.acquire(), Outcome::held);
    EXPECT_TRUE(closed);
    EXPECT_EQ(party.observer.expired, 1);
    EXPECT_NE(party.session.id(), first);
    EXPECT_EQ(observer_.read(party.held().node).stat.ephemeral_owner, party.session.id());
  }
};

Locks slots(zk::Session& with, WaitObserver& told) {
  return test::locks_of(std::make_unique<Slots>(
      with, "/s", 2, [](const std::string&) { return 2; }, "data", told));
}

Locks at_a(zk::Session& with, WaitObserver& told) {
  return test::locks_of(std::make_unique<Lock>(with, "/a", LockType(), "data", told));
}

Locks at_a_or_b(zk::Session& with, WaitObserver& told) {
  AnyLock::Locks lines;
  for (const char* path : {"/a", "/b"}) lines.push_back(std::make_unique<Lock>(with, path, LockType(), "data", told));
  return test::locks_of(std::make_unique<AnyLock>(with, std::move(lines), told));
}

// As another one has a slot, the gate is opened when the slot is there.
TEST_F(ClosedSession, WhileTheGateIsOpenedIsNoSlot) {
  Party other(here_, 30s, slots);
  other.acquire();
  expect_new_place(slots);
}

TEST_F(ClosedSession, WhileTheFirstSlotIsMadeIsNoSlot) {
  expect_new_place(slots);
}

TEST_F(ClosedSession, WhileTheOtherLinesAreLeftIsNoLock) {
  Party holder(here_, 30s, at_a);
  holder.acquire();
  expect_new_place(at_a_or_b);
}

TEST_F(ClosedSession, OfAWaiterIsNoticedAtOnce) {
  Party holder(here_, 30s, at_a);
  holder.acquire();
  Party waiter(through_proxy_, 30s, at_a);
  const uint64_t answers = waiter.session.client().answers();
  bool closed = false;
  const Script script(waiter.loop, [&] {
    if (waiter.observer.expired == 1 && observer_.children("/a").size() == 2) holder.lock.release(20s);
    // The requests are: create, list, read its own node, and the one before it. Then it sleeps.
    const zk::Client& client = waiter.session.client();
    if (closed || client.answers() < answers + 4 || client.silent_since() != kNever) return;
    closed = true;
    close_session(server_, waiter.session);
  });
  EXPECT_EQ(waiter.acquire(), Outcome::held);
  EXPECT_EQ(waiter.observer.expired, 1);
}

class Leaving : public test::Proxied {
 protected:
  // No server is there for longer than the first try to leave takes.
  void expect_left(const test::MakeLocks& make, const std::string& line, size_t contenders) {
    Party party(through_proxy_, 6s, make);
    Deadline back = kNever;
    const Script script(party.loop, [&] {
      if (back == kNever && proxy_.is_refusing()) back = deadline_in(party.session.timeout() / 6);
      if (BootClock::now() > back) proxy_.accept_again();
    });
    proxy_.break_before(opcode::kRemove);
    EXPECT_EQ(party.acquire(), Outcome::held);
    EXPECT_LT(back, kNever);
    EXPECT_EQ(observer_.children(line).size(), contenders);
  }
};

TEST_F(Leaving, TheGateIsSeenToBeDone) {
  Party other(here_, 30s, slots);
  other.acquire();
  expect_left(slots, "/s/locks", 0);
}

TEST_F(Leaving, TheGateWithTheFirstSlotIsSeenToBeDone) {
  expect_left(slots, "/s/locks", 0);
}

TEST_F(Leaving, TheOtherLinesIsSeenToBeDone) {
  Party holder(here_, 30s, at_a);
  holder.acquire();
  expect_left(at_a_or_b, "/a", 1);
}

Locks at_a_b_or_c(zk::Session& with, WaitObserver& told) {
  AnyLock::Locks lines;
  for (const char* path : {"/a", "/b", "/c"}) {
    lines.push_back(std::make_unique<Lock>(with, path, LockType(), "data", told));
  }
  return test::locks_of(std::make_unique<AnyLock>(with, std::move(lines), told));
}

// A contender after us there would wait for a lock that we do not want.
TEST_F(Leaving, OneOfSeveralLinesThatWeMayNotLeaveIsNotForgottenForTheOthers) {
  constexpr int kNoAuth = -102;
  Party holder(here_, 30s, [](zk::Session& with, WaitObserver& told) {
    return test::locks_of(std::make_unique<Lock>(with, "/a", LockType(), "data", told),
                          std::make_unique<Lock>(with, "/b", LockType(), "data", told));
  });
  ASSERT_EQ(holder.acquire(), Outcome::held);
  Party party(through_proxy_, 30s, at_a_b_or_c);
  proxy_.answer_with(opcode::kRemove, kNoAuth);
  EXPECT_THROW(party.acquire(), Failure);
}

}  // namespace leaving_test
}  // namespace zklock::recipe
