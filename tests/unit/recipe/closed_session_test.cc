// SPDX-License-Identifier: Apache-2.0
// A session that is over before its time, because somebody else has closed it, while we leave a line that we have no
// more use for: what we hold is gone too.
#include "recipe/lock/any_lock.h"
#include "recipe/lock/slots.h"
#include "support/party.h"
#include "support/proxied.h"
#include "zk/link.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Party;
using test::Script;
namespace opcode = test::opcode;

// As the guard of a zklock that was killed does it.
void close_session(const std::string& server, zk::Session& session) {
  const size_t colon = server.rfind(':');
  zk::ClientOptions options{
      {{server.substr(0, colon), static_cast<uint16_t>(std::stoi(server.substr(colon + 1))), ""}}, "", 10s, {}};
  options.resumed = {session.id(), session.client().password()};
  host::Loop loop;
  zk::Client client(options);
  zk::Link link(client);
  const host::Attached attached(loop, link);
  ASSERT_TRUE(test::eventually(loop, [&] { return client.state() == zk::ClientState::connected; }));
}

class ClosedSession : public test::Proxied {
 protected:
  // When the first delete is on its way.
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

TEST_F(ClosedSession, WhileTheGateIsOpenedIsNoSlot) {
  expect_new_place([](zk::Session& with, WaitObserver& told) {
    return test::locks_of(std::make_unique<Slots>(
        with, "/s", 2, [](const std::string&) { return 2; }, "data", told));
  });
}

TEST_F(ClosedSession, WhileTheOtherLinesAreLeftIsNoLock) {
  Party holder(here_, 4s, [](zk::Session& with, WaitObserver& told) {
    return test::locks_of(std::make_unique<Lock>(with, "/a", LockType(), "data", told));
  });
  holder.acquire();
  expect_new_place([](zk::Session& with, WaitObserver& told) {
    AnyLock::Locks lines;
    for (const char* path : {"/a", "/b"}) lines.push_back(std::make_unique<Lock>(with, path, LockType(), "data", told));
    return test::locks_of(std::make_unique<AnyLock>(with, std::move(lines), told));
  });
}

}  // namespace
}  // namespace zklock::recipe
