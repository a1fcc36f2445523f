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

// Old lists are asked for again.
TEST_F(FinderTest, ThePassThatFollowsUsesTheListsThatWereAskedForAhead) {
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 60s));
  session.open();
  ItemFinder finder(session, {"/q"});
  EXPECT_EQ(finder.next(3).size(), 3u);
  finder.ask_ahead(3, true);
  EXPECT_FALSE(finder.is_over());
  for (const int more : {0, 2}) {
    std::this_thread::sleep_for(1100ms);  // until the list is too old, however long it took
    const Deadline began = BootClock::now();
    finder.ask_ahead(3, true);
    ASSERT_TRUE(test::eventually(loop, [&] { return finder.is_next_here(); }));
    EXPECT_TRUE(finder.is_over());
    const int asked = proxy_.requests(test::opcode::kChildren);
    if (more > 0) std::this_thread::sleep_for(1100ms);
    finder.restart(false);
    EXPECT_EQ(finder.next(20).size(), 10u);
    // On a busy machine, they may be too old already.
    if (more > 0 || BootClock::now() < began + 80ms) {
      EXPECT_EQ(proxy_.requests(test::opcode::kChildren), asked + more);
    }
  }
}

TEST_F(FinderTest, APassThatBeginsWithASyncDoesNotUseOlderLists) {
  host::Loop loop;
  zk::Session session(loop, test::options_for(here_, 60s));
  session.open();
  ItemFinder finder(session, {"/q"});
  EXPECT_EQ(finder.next(3).size(), 3u);
  std::this_thread::sleep_for(1100ms);  // until the list is too old, however long it took
  finder.ask_ahead(3, true);
  ASSERT_TRUE(test::eventually(loop, [&] { return finder.is_next_here(); }));
  observer_.create(item(10), "10");
  finder.restart(true);
  EXPECT_EQ(finder.next(20).size(), 11u);
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
