// SPDX-License-Identifier: Apache-2.0
// recipe/overview: what it sees, and how few requests it needs.
#include "recipe/overview/overview.h"

#include "recipe/queue/nodes.h"
#include "support/fault_proxy.h"
#include "support/sandbox.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace overview_test {

using namespace std::chrono_literals;
using Paths = std::vector<std::string>;
using zk::CreateMode;

class OverviewTest : public testing::Test {
 protected:
  OverviewTest() { session_.open(); }

  // Sends all requests together.
  Paths make(const Paths& paths, CreateMode mode = CreateMode::persistent, const std::string& data = "") {
    std::vector<zk::Call> calls;
    for (const std::string& path : paths) calls.push_back(others_.session().client().create(path, data, mode));
    Paths made;
    for (const zk::Call& call : calls) made.push_back(others_.session().await(call).path);
    return made;
  }
  std::string stand_in_line(const std::string& lock) {
    return make({lock + "/_c_aa234567-89ab-4def-8123-456789abcdef-lock-"}, CreateMode::ephemeral_sequential, "me")
        .front();
  }
  void push(const std::string& queue, int items) {
    const QueueLayout layout{queue};
    make_queue(others_.session(), layout, {}, "cannot push");
    QueueTail tail(others_.session(), layout.items(), kUsualPriority, "cannot push");
    tail.find();
    make(Paths(static_cast<size_t>(items), tail.stem()), CreateMode::persistent_sequential, "item");
  }

  // Returns how many requests the look took.
  uint64_t look(Overview& overview) {
    const uint64_t before = session_.client().answers();
    overview.look();
    return session_.client().answers() - before;
  }
  // Looks until it has seen all, which a lagging server may delay.
  bool shows(Overview& overview, const std::function<bool(const OverviewFigures&)>& fact) {
    return test::eventually(loop_, [&] {
      look(overview);
      return !overview.figures().behind && fact(overview.figures());
    });
  }
  static Paths paths_of(const auto& all) {
    Paths paths;
    for (const auto& one : all) paths.push_back(one.path);
    return paths;
  }

  std::string chroot_ = test::shared_servers() + test::new_chroot();
  test::Observer others_{chroot_};
  host::Loop loop_;
  // It is idle while the others make their nodes, which takes longer than usual sessions on a slow machine.
  zk::Session session_{loop_, test::options_for(chroot_, 30s)};
};

TEST_F(OverviewTest, SeesWhoHoldsAndHowManyWait) {
  others_.create("/locks/a/other");
  const std::string first = stand_in_line("/locks/a");
  stand_in_line("/locks/a");
  stand_in_line("/locks/a");
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  const LockFigures before = overview.figures().locks.front();
  EXPECT_EQ(before.path, "/locks/a");
  EXPECT_EQ(before.holders, 1u);
  EXPECT_EQ(before.waiters, 2u);
  EXPECT_EQ(before.holder, "me");
  EXPECT_NE(before.held_ms, 0);
  EXPECT_NE(before.waited_ms, 0);
  others_.remove(first);
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.front().waiters == 1; }));
  // Counts since we saw it take over, not since it stands in line.
  EXPECT_GE(overview.figures().locks.front().held_ms, before.held_ms / 1000 * 1000);
}

TEST_F(OverviewTest, SharedHoldersAreCountedTogether) {
  others_.create("/l/other");
  const std::string stem = "/l/_c_aa234567-89ab-4def-8123-456789abcdef-";
  make({stem + "__READ__", stem + "__READ__", stem + "__WRIT__", stem + "__READ__"}, CreateMode::ephemeral_sequential);
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  EXPECT_EQ(overview.figures().locks.front().holders, 2u);
  EXPECT_EQ(overview.figures().locks.front().waiters, 2u);
}

TEST_F(OverviewTest, AHolderThatHasHeldItWithAnotherHasNotJustTakenOver) {
  others_.create("/l/other");
  const std::string stem = "/l/_c_aa234567-89ab-4def-8123-456789abcdef-";
  const Paths made = make({stem + "__READ__", stem + "__READ__"}, CreateMode::ephemeral_sequential);
  const int64_t came = others_.session().read(made.back()).stat.created_ms;
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& f) { return f.locks.size() == 1 && f.locks.front().holders == 2; }));
  // Our clock has whole seconds.
  ASSERT_TRUE(test::eventually(loop_, [&] { return now_ms() > came; }));
  others_.remove(made.front());
  ASSERT_TRUE(shows(overview, [](const auto& f) { return f.locks.front().holders == 1; }));
  EXPECT_EQ(overview.figures().locks.front().held_ms, came);
}

TEST_F(OverviewTest, WhatHappensBetweenTwoSessionsIsNotSeen) {
  others_.create("/l/other");
  const std::string first = stand_in_line("/l");
  const int64_t came = others_.session().read(stand_in_line("/l")).stat.created_ms;
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& f) { return f.locks.size() == 1 && f.locks.front().waiters == 1; }));
  // Our clock has whole seconds.
  ASSERT_TRUE(test::eventually(loop_, [&] { return now_ms() > came; }));
  session_.close();
  others_.remove(first);
  session_.open();
  ASSERT_TRUE(shows(overview, [](const auto& f) { return f.locks.size() == 1 && f.locks.front().waiters == 0; }));
  EXPECT_EQ(overview.figures().locks.front().held_ms, came);
}

TEST_F(OverviewTest, WhoStandsFirstAtTheGateOfSlotsWaits) {
  others_.create("/s/leases/other");
  others_.create("/s/locks/other");
  make({"/s/leases/_c_aa234567-89ab-4def-8123-456789abcdef-lease-",
        "/s/leases/_c_bb234567-89ab-4def-8123-456789abcdef-lease-"},
       CreateMode::ephemeral_sequential);
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  EXPECT_EQ(overview.figures().locks.front().path, "/s");
  EXPECT_EQ(overview.figures().locks.front().holders, 2u);
  make({"/s/locks/_c_cc234567-89ab-4def-8123-456789abcdef-lock-",
        "/s/leases/_c_cc234567-89ab-4def-8123-456789abcdef-lease-"},
       CreateMode::ephemeral_sequential);
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.front().waiters == 1; }));
  EXPECT_EQ(overview.figures().locks.front().holders, 2u);
}

TEST_F(OverviewTest, AFolderCalledLocksIsAFolder) {
  others_.create("/locks/a/other");
  others_.create("/leases/b/other");
  stand_in_line("/locks/a");
  stand_in_line("/leases/b");
  Overview overview(session_, "/");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 2; }));
  EXPECT_EQ(paths_of(overview.figures().locks), (Paths{"/leases/b", "/locks/a"}));
}

TEST_F(OverviewTest, WhatIsOnlyCalledLikeAContenderIsAFolder) {
  others_.create("/l/x-1-0000000000/deeper/other");
  stand_in_line("/l");
  stand_in_line("/l/x-1-0000000000/deeper");
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 2; }));
  EXPECT_EQ(overview.figures().locks.front().waiters, 0u);
  EXPECT_EQ(paths_of(overview.figures().locks), (Paths{"/l", "/l/x-1-0000000000/deeper"}));
}

TEST_F(OverviewTest, CountsQueuesAndMeasuresThem) {
  push("/q", 30);
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.queues.size() == 1; }));
  const QueueFigures before = overview.figures().queues.front();
  EXPECT_EQ(before.items, 30);
  EXPECT_EQ(before.dead, 0);
  EXPECT_NE(before.oldest_ms, 0);
  EXPECT_FALSE(before.estimated);
  push("/q", 12);
  const Paths items = others_.children("/q/items/100-0000000000");
  for (int i = 0; i < 5; ++i) others_.remove("/q/items/100-0000000000/" + items[static_cast<size_t>(i)]);
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.queues.front().items == 37; }));
  EXPECT_EQ(overview.figures().queues.front().made, 42);
}

// The first segment is listed before it is known to be empty.
TEST_F(OverviewTest, TheFirstItemsMayBeInTheSecondSegment) {
  push("/q", 1);
  others_.create("/q/items/100-0000000001");
  const std::string first = "/q/items/100-0000000000";
  others_.remove(item_paths(first, others_.children(first)).front());
  const std::string token = make_token();
  const Paths items = make({"/q/items/100-0000000001/" + token + "-"}, CreateMode::persistent_sequential);
  make({claim_of(items.front())}, CreateMode::ephemeral);
  Overview overview(session_, "/");
  EXPECT_TRUE(shows(overview, [](const auto& f) { return f.queues.size() == 1 && f.queues.front().in_work == 1; }));
  EXPECT_EQ(overview.figures().queues.front().items, 1);
  EXPECT_NE(overview.figures().queues.front().oldest_ms, 0);
}

TEST_F(OverviewTest, ClaimedItemsAmongTheFirstAreInWork) {
  push("/q", 30);
  const std::string segment = "/q/items/100-0000000000";
  for (const std::string& item : item_paths(segment, others_.children(segment))) {
    if (parse_item(item)->number < 2) make({claim_of(item)}, CreateMode::ephemeral);
  }
  Overview overview(session_, "/");
  EXPECT_TRUE(shows(overview, [](const auto& f) { return f.queues.size() == 1 && f.queues.front().in_work == 2; }));
  EXPECT_FALSE(overview.figures().queues.front().more_in_work);
}

TEST_F(OverviewTest, CountsMembers) {
  others_.create("/g", std::string(kKeptGroup));
  const Paths members = make({"/g/a-", "/g/a-", "/g/b-"}, CreateMode::ephemeral_sequential);
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.groups.size() == 1; }));
  EXPECT_EQ(overview.figures().groups.front().members, 3u);
  EXPECT_NE(overview.figures().groups.front().changed_ms, 0);
  for (const std::string& member : members) others_.remove(member);
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.groups.front().members == 0; }));
  EXPECT_NE(overview.figures().groups.front().changed_ms, 0);
}

TEST_F(OverviewTest, AMemberThatIsReplacedUnderItsNameIsAChange) {
  others_.create("/g", std::string(kKeptGroup));
  const std::string member = make({"/g/web1"}, CreateMode::ephemeral).front();
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.groups.size() == 1; }));
  const int64_t before = overview.figures().groups.front().changed_ms;
  // Our clock has whole seconds.
  EXPECT_TRUE(test::eventually(loop_, [&] {
    others_.remove(member);
    make({member}, CreateMode::ephemeral);
    look(overview);
    return overview.figures().groups.front().changed_ms > before;
  }));
}

TEST_F(OverviewTest, WhatIsGoneIsGone) {
  others_.create("/l/a/other");
  const std::string node = stand_in_line("/l/a");
  Overview overview(session_, "/l");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  others_.remove(node);
  others_.remove("/l/a/other");
  others_.remove("/l/a");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.exists && figures.locks.empty(); }));
  others_.remove("/l");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return !figures.exists; }));
  others_.create("/l/a/other");
  stand_in_line("/l/a");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.exists && figures.locks.size() == 1; }));
}

TEST_F(OverviewTest, AsksNothingAtRestButQueues) {
  others_.create("/l/a/other");
  for (int i = 0; i < 50; ++i) stand_in_line("/l/a");
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  EXPECT_EQ(look(overview), 0u);
  push("/q", 3);
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.queues.size() == 1; }));
  // It asks for two lists, the list of the segment, and a Stat for each item.
  EXPECT_EQ(look(overview), 6u);
}

TEST_F(OverviewTest, AsksABoundedNumberWhateverTheTree) {
  Paths locks;
  for (int i = 0; i < 1500; ++i) locks.push_back(fmt::format("/t/{:04}", i));
  others_.create("/t/other");
  make(locks);
  Paths nodes;
  for (const std::string& lock : locks) nodes.push_back(lock + "/_c_aa234567-89ab-4def-8123-456789abcdef-lock-");
  make(nodes, CreateMode::ephemeral_sequential);
  push("/z", 3);
  Overview overview(session_, "/");
  int looks = 0;
  do {
    EXPECT_LE(look(overview), kRequestsPerLook);
  } while (overview.figures().behind && ++looks < 20);
  EXPECT_GT(looks, 1);
  EXPECT_EQ(paths_of(overview.figures().locks), locks);
  // A storm of changes must not hide the rest.
  const std::string late = stand_in_line("/t/1499");
  for (const std::string& lock : locks) stand_in_line(lock);
  EXPECT_TRUE(shows(overview, [](const auto& f) { return !f.locks.empty() && f.locks.back().waiters == 2; }));
}

// The nodes that change before each look would take all requests of a look.
TEST_F(OverviewTest, GoesOnWhereItHadToStop) {
  Paths locks;
  for (int i = 0; i < 600; ++i) locks.push_back(fmt::format("/t/{:04}", i));
  others_.create("/t/other");
  make(locks);
  Overview overview(session_, "/t");
  ASSERT_TRUE(shows(overview, [](const auto&) { return true; }));
  stand_in_line(locks.back());
  Paths nodes;
  for (size_t i = 0; i < 400; ++i) nodes.push_back(locks[i] + "/_c_aa234567-89ab-4def-8123-456789abcdef-lock-");
  const auto last_is_seen = [&] {
    const auto& seen = overview.figures().locks;
    return !seen.empty() && seen.back().path == locks.back();
  };
  for (int looks = 0; looks < 4 && !last_is_seen(); ++looks) {
    make(nodes, CreateMode::ephemeral_sequential);
    session_.synced_children("/t");  // after the events of what was made
    look(overview);
  }
  EXPECT_TRUE(last_is_seen());
}

TEST_F(OverviewTest, DoesNotSeeMoreNodesThanItSaysAndTheOthersOnceThereIsRoom) {
  Paths many;
  for (size_t i = 0; i < kMostNodes + 500; ++i) many.push_back(fmt::format("/t/{:05}", i));
  others_.create("/t/other");
  make(many);
  stand_in_line(many.back());
  Overview overview(session_, "/");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.too_large; }));
  EXPECT_TRUE(overview.figures().locks.empty());
  Overview part(session_, "/t/00001");
  EXPECT_TRUE(shows(part, [](const auto& figures) { return !figures.too_large; }));
  zk::remove_all(session_, {many.begin(), many.begin() + 600});
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return !figures.too_large && figures.locks.size() == 1; }));
}

TEST_F(OverviewTest, DoesNotWatchMoreThanAPacketTakesAfterAReconnect) {
  Paths many;
  for (size_t i = 0; i < 3000; ++i) many.push_back(fmt::format("/t/{:0200}", i));
  others_.create("/t/other");
  make(many);
  Overview overview(session_, "/");
  EXPECT_TRUE(shows(overview, [](const auto& figures) { return figures.too_large; }));
}

// The queues that were not asked for the longest time come first.
TEST_F(OverviewTest, EachQueueHasItsTurn) {
  Paths queues;
  for (int i = 0; i < 6; ++i) push(queues.emplace_back(fmt::format("/q{}", i)), 1);
  QueueSurveyor surveyor(session_);
  for (int look = 0; look < 6; ++look) {
    size_t left = 8;  // enough for two queues
    surveyor.look(queues, left);
  }
  EXPECT_EQ(surveyor.figures().size(), queues.size());
}

TEST_F(OverviewTest, GoesOnInANewSession) {
  others_.create("/l/a/other");
  const std::string node = stand_in_line("/l/a");
  Overview overview(session_, "/");
  ASSERT_TRUE(shows(overview, [](const auto& figures) { return figures.locks.size() == 1; }));
  session_.close();
  others_.remove(node);
  stand_in_line("/l/a");
  stand_in_line("/l/a");
  session_.open();
  EXPECT_TRUE(shows(overview, [](const auto& f) { return f.locks.size() == 1 && f.locks.front().waiters == 1; }));
}

// If nothing is stale, a look sends no request.
TEST_F(OverviewTest, ThatTheSessionIsOverIsSeenThoughNothingHasChanged) {
  others_.create("/l/a/other");
  test::FaultProxy proxy(test::shared_servers());
  zk::Session session(loop_, test::options_for(proxy.address() + chroot_.substr(chroot_.find('/')), 500ms));
  session.open();
  Overview overview(session, "/");
  ASSERT_TRUE(test::eventually(loop_, [&] {
    const uint64_t before = session.client().answers();
    overview.look();
    return session.client().answers() == before;
  }));
  proxy.set(test::FaultProxy::Mode::silent);
  const Deadline back = deadline_in(3 * session.timeout());
  while (BootClock::now() < back) loop_.turn(back);
  proxy.set(test::FaultProxy::Mode::pass);
  ASSERT_TRUE(test::eventually(loop_, [&] { return session.expired(); }));
  EXPECT_THROW(overview.look(), zk::SessionOver);
}

}  // namespace overview_test
}  // namespace zklock::recipe
