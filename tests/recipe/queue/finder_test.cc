// SPDX-License-Identifier: Apache-2.0
// recipe/queue/finder: where the next items are, against a real server.
#include "recipe/queue/finder.h"

#include "support/queue_worker.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace finder_test {

using namespace std::chrono_literals;

class FinderTest : public test::QueueOfTen {};

// The next server may know less.
TEST_F(FinderTest, APassOverTwoConnectionsIsNotSynced) {
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_));
  session.open();
  ItemFinder finder(session, {"/q"});
  finder.restart(true);
  EXPECT_EQ(finder.next(3).size(), 3u);
  EXPECT_EQ(finder.next(20).size(), 7u);
  EXPECT_TRUE(finder.next(1).empty());
  EXPECT_TRUE(finder.synced());
  const uint64_t connections = session.client().connections();
  proxy_.cut();
  ASSERT_TRUE(test::eventually(loop, [&] { return session.client().connections() > connections; }));
  EXPECT_TRUE(finder.next(1).empty());
  EXPECT_FALSE(finder.synced());
}

TEST_F(FinderTest, ASegmentThatGoesMeanwhileDoesNotHideTheNext) {
  observer_.create("/q/items/100-0000000001");
  observer_.create("/q/items/100-0000000002/token-0000000000", "last");
  host::Loop loop;
  zk::Session session(loop, test::options_for(here_));
  session.open();
  ItemFinder finder(session, {"/q"});
  EXPECT_EQ(finder.next(10).size(), 10u);
  observer_.remove("/q/items/100-0000000001");
  EXPECT_EQ(finder.next(10), std::vector<std::string>{"/q/items/100-0000000002/token-0000000000"});
}

// The items are listed together, or one after another.
TEST_F(FinderTest, WhatIsPutOffStaysBeforeItemsOfALowerPriority) {
  observer_.create("/q/items/200-0000000000");
  observer_.create("/q/items/200-0000000000/token-0000000000", "low");
  host::Loop loop;
  zk::Session session(loop, test::options_for(here_));
  session.open();
  for (const bool alone : {true, false}) {
    ItemFinder finder(session, {"/q"});
    finder.put_off(3);
    std::vector<std::string> paths;
    for (auto some = finder.next(100, alone); !some.empty(); some = finder.next(100, alone)) {
      paths.insert(paths.end(), some.begin(), some.end());
    }
    ASSERT_EQ(paths.size(), 11u);
    EXPECT_EQ(paths.front(), item(3)) << alone;
    EXPECT_EQ(paths[9], item(2)) << alone;
    EXPECT_EQ(paths.back(), "/q/items/200-0000000000/token-0000000000") << alone;
  }
}

// An item of a higher priority may be overlooked for that long.
TEST_F(FinderTest, AListThatTookLongIsNotUsedForMuchLonger) {
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 60s));
  session.open();
  ItemFinder finder(session, {"/q"});
  proxy_.fall_silent_after(test::opcode::kChildren);
  const Deadline heard = deadline_in(1s);
  const test::Script script(loop, [&] {
    if (left_until(heard) == Duration::zero()) proxy_.set(test::FaultProxy::Mode::pass);
  });
  EXPECT_EQ(finder.next(1).size(), 1u);
  EXPECT_TRUE(finder.is_fresh());
  std::this_thread::sleep_for(1100ms);
  EXPECT_FALSE(finder.is_fresh());
}

}  // namespace finder_test
}  // namespace zklock::recipe
