// SPDX-License-Identifier: Apache-2.0
// recipe/queue/layout: names, order, Stats. Needs no server.
#include "recipe/queue/layout.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace queue_layout_test {

using Names = std::vector<std::string>;
using zk::Step;

zk::Stat item(int version, int child_version, int children) {
  zk::Stat stat;
  stat.version = version;
  stat.child_version = child_version;
  stat.children = children;
  return stat;
}

TEST(QueueLayout, ASegmentIsNamedByPriorityAndNumber) {
  EXPECT_EQ((Segment{7, 42}.name()), "007-0000000042");
  EXPECT_EQ(parse_segment("007-0000000042"), (Segment{7, 42}));
  EXPECT_EQ(parse_segment("999-9999999999"), (Segment{999, 9'999'999'999}));
  EXPECT_EQ((Segment{7, 42}.next()), (Segment{7, 43}));
}

TEST(QueueLayout, AStrangersNameIsNoSegment) {
  for (const char* name : {"", "100", "100-1", "100-00000000012", "1000-000000001", "-10-0000000001", "100_0000000001",
                           "100-000000000x", "100--000000001", "100-+000000001"}) {
    EXPECT_EQ(parse_segment(name), std::nullopt) << name;
  }
}

TEST(QueueLayout, SegmentsAreTakenByPriorityAndThenByNumber) {
  const Names names = {"100-0000000010", "100-0000000009", "zklock", "000-0000000011"};
  EXPECT_EQ(segments_of(names), (std::vector<Segment>{{0, 11}, {100, 9}, {100, 10}}));
}

TEST(QueueLayout, ItemsAreTakenInTheOrderOfTheServersNumbers) {
  EXPECT_EQ(item_paths("/s", {"b-0000000002", "z-0000000001", "a-0000000010", "claim", "a-0000000002"}),
            (Names{"/s/z-0000000001", "/s/a-0000000002", "/s/b-0000000002", "/s/a-0000000010"}));
}

TEST(QueueLayout, AStrangersNameIsNoItem) {
  for (const char* name : {"", "claim", "-0000000001", "a-000000001", "a-000000000x", "a0000000001", "a--000000001"}) {
    EXPECT_FALSE(item_number(name).has_value()) << name;
  }
}

TEST(QueueLayout, TokensDiffer) {
  EXPECT_EQ(make_token().size(), 12u);
  EXPECT_NE(make_token(), make_token());
}

TEST(QueueLayout, Paths) {
  const QueueLayout layout{"/q"};
  EXPECT_EQ(segment_path(layout.items(), {100, 1}), "/q/items/100-0000000001");
  EXPECT_EQ(claim_of("/q/items/100-0000000001/t-0000000002"), "/q/items/100-0000000001/t-0000000002/claim");
  EXPECT_EQ(why_of(layout.dead_of("/q/items/005-0000000000/t-0000000002")), "/q/dead/005-0000000000/t-0000000002/why");
  EXPECT_EQ(layout.marker("t"), "/q/pushing/t");
}

// The server counts each creation and removal in a cversion.
TEST(QueueLayout, AttemptsAreClaimsThatWereNotGivenBackUncounted) {
  EXPECT_EQ(attempts_of(item(0, 0, 0)), 0);
  EXPECT_EQ(attempts_of(item(0, 1, 1)), 1);
  EXPECT_EQ(attempts_of(item(0, 2, 0)), 1);
  EXPECT_EQ(attempts_of(item(0, 3, 1)), 2);
  EXPECT_EQ(attempts_of(item(1, 2, 0)), 0);
  EXPECT_EQ(attempts_of(item(2, 7, 1)), 2);
  EXPECT_TRUE(is_claimed(item(0, 1, 1)));
  EXPECT_FALSE(is_claimed(item(0, 2, 0)));
}

TEST(QueueLayout, ASegmentIsSealedByItsFirstWriteInTheTransactionThatMakesTheNext) {
  const auto steps = steps_to_seal("/q/items", {100, 3});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, Step::Kind::write);
  EXPECT_EQ(steps[0].path, "/q/items/100-0000000003");
  EXPECT_EQ(steps[0].version, 0);
  EXPECT_EQ(steps[1].kind, Step::Kind::create);
  EXPECT_EQ(steps[1].path, "/q/items/100-0000000004");
  EXPECT_TRUE(is_sealed(item(1, 0, 0)));
  EXPECT_FALSE(is_sealed(item(0, 0, 0)));
}

TEST(QueueLayout, ASegmentIsMadeOnlyIfNoOtherWasMadeSinceTheList) {
  const auto steps = steps_to_open("/q/items", 7, {100, 3});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, Step::Kind::write);
  EXPECT_EQ(steps[0].path, "/q/items");
  EXPECT_EQ(steps[0].version, 7);
  EXPECT_EQ(steps[1].kind, Step::Kind::create);
  EXPECT_EQ(steps[1].path, "/q/items/100-0000000003");
}

TEST(QueueLayout, AQueueIsMadeWholeAndSaysWhatItIsFirst) {
  const auto steps = steps_to_make({"/q"});
  EXPECT_EQ(steps.front().path, "/q");
  EXPECT_EQ(steps.front().data, kQueueFormat);
  EXPECT_EQ(steps.size(), 5u);
}

}  // namespace queue_layout_test
}  // namespace zklock::recipe
