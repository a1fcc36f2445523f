// SPDX-License-Identifier: Apache-2.0
#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/words/query.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace word_query_test {

using namespace std::chrono_literals;

TEST(WordQuery, AServerThatDoesNotAnswerAWordIsNotAskedTheNext) {
  test::FaultProxy closing(test::shared_servers());
  closing.cut(true);
  host::Loop loop;
  const std::vector<Server> servers = ServerList::parse(closing.address(), "the test").servers;
  WordQuery query(loop, {servers}, {"srvr", "mntr", "conf"}, deadline_in(20s));
  const std::vector<ServerReplies> all = query.finish();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().replies.size(), 1u);
  EXPECT_EQ(closing.accepted(), 1);
}

TEST(WordQuery, AnAddressWithoutARouteIsNotWaitedFor) {
  host::Loop loop;
  const std::vector<Server> servers = ServerList::parse("255.255.255.255:2181", "the test").servers;
  const Deadline until = deadline_in(20s);
  WordQuery query(loop, {servers}, {"ruok"}, until);
  EXPECT_EQ(query.finish().front().replies.front().result, WordResult::unreachable);
  EXPECT_LT(BootClock::now(), until);
}

}  // namespace word_query_test
}  // namespace zklock::zk
