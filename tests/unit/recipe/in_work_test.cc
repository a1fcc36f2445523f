// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/in_work.h"

#include <thread>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace in_work_test {

using Paths = std::vector<std::string>;

zk::Watch watch() {
  return std::make_shared<zk::WatchState>();
}

TEST(InWork, IsSureOfWhatWasSeenAMomentAgo) {
  InWork in_work;
  in_work.note("/a");
  EXPECT_TRUE(in_work.knows("/a"));
  EXPECT_TRUE(in_work.is_sure("/a"));
  EXPECT_FALSE(in_work.is_sure("/b"));
  in_work.forget("/a");
  EXPECT_FALSE(in_work.knows("/a"));
  EXPECT_TRUE(in_work.empty());
}

TEST(InWork, IsSureOfAWatchUntilItFires) {
  InWork in_work;
  const zk::Watch on_a = watch();
  in_work.note("/a", on_a);
  in_work.note("/b");
  EXPECT_EQ(in_work.unwatched(), Paths{"/b"});
  EXPECT_EQ(in_work.watched_size(4), 6u);
  // Looking at the items leaves the watch where it is.
  in_work.note("/a");
  EXPECT_EQ(in_work.unwatched(), Paths{"/b"});
  EXPECT_TRUE(in_work.due(10).empty());
  on_a->fired = true;
  EXPECT_FALSE(in_work.is_sure("/a"));
  EXPECT_EQ(in_work.due(0), Paths{"/a"});
  EXPECT_EQ(in_work.watched_size(4), 0u);
  in_work.note("/a");
  EXPECT_TRUE(in_work.is_sure("/a"));
  EXPECT_EQ(in_work.unwatched(), (Paths{"/a", "/b"}));
}

TEST(InWork, IsOldWithoutAWatchAfterAWhile) {
  InWork in_work;
  in_work.note("/a");
  in_work.note("/b", watch());
  EXPECT_FALSE(in_work.is_old("/a"));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_TRUE(in_work.is_old("/a"));
  EXPECT_FALSE(in_work.is_old("/b"));
  EXPECT_FALSE(in_work.is_old("/c"));
}

TEST(InWork, NothingIsDueWhereAllIsWatched) {
  InWork in_work;
  in_work.note("/a", watch());
  EXPECT_EQ(in_work.next_due(), kNever);
  in_work.note("/b");
  EXPECT_GT(in_work.next_due(), BootClock::now());
  EXPECT_LT(in_work.next_due(), deadline_in(std::chrono::seconds(2)));
}

TEST(InWork, WhatWasSeenLatelyOrIsWatchedIsKept) {
  InWork in_work;
  in_work.note("/a");
  in_work.note("/b", watch());
  in_work.prune();
  EXPECT_TRUE(in_work.knows("/a"));
  EXPECT_TRUE(in_work.knows("/b"));
}

TEST(InWork, WhatWasSeenFirstIsDueFirst) {
  InWork in_work;
  in_work.note("/b");
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  in_work.note("/a");
  while (in_work.due(2).size() < 2) std::this_thread::sleep_until(in_work.next_due());
  EXPECT_EQ(in_work.due(1), Paths{"/b"});
}

}  // namespace in_work_test
}  // namespace zklock::recipe
