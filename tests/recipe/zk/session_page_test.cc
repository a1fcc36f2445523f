// SPDX-License-Identifier: Apache-2.0
// What a guard does for a killed zklock, in our own process.
#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace session_page_test {

using namespace std::chrono_literals;
using test::FaultProxy;

// The first server of the list may be the one that has failed.
TEST(SessionPage, TheServerInUseIsAskedToCloseTheSession) {
  FaultProxy one(test::shared_servers()), other(test::shared_servers());
  host::Loop loop;
  Session session(loop, test::options_for(one.address() + "," + other.address(), 20s));
  const auto close = session.closer();
  session.open();
  FaultProxy& first = session.server() == one.address() ? one : other;
  first.cut(true);
  ASSERT_EQ(session.children("/").code, Code::ok);
  ASSERT_NE(session.server(), first.address());
  first.accept_again();
  const int accepted = first.accepted();
  close();
  EXPECT_EQ(first.accepted(), accepted);
  EXPECT_THROW(session.children("/"), SessionOver);
}

TEST(SessionPage, TheNextSessionIsClosedToo) {
  host::Loop loop;
  Session session(loop, test::options_for(test::shared_servers(), 20s));
  const auto close = session.closer();
  session.open();
  session.close();
  session.open();
  close();
  EXPECT_THROW(session.children("/"), SessionOver);
}

}  // namespace session_page_test
}  // namespace zklock::zk
