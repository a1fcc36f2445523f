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
    EXPECT_FALSE(parse_item(name).has_value()) << name;
  }
}

TEST(QueueLayout, ANameWithoutTagsHasATokenAndANumber) {
  for (const char* token : {"0123456789ab", "a", "a-b", "0123456789ab.x1"}) {
    const std::string name = std::string(token) + "-0000000042";
    const auto item = parse_item(name);
    ASSERT_TRUE(item.has_value()) << name;
    EXPECT_EQ(item->token, token);
    EXPECT_EQ(item->push, "");
    EXPECT_EQ(item->number, 42);
  }
}

TEST(QueueLayout, AnItemOfAnAwaitedPushNamesIt) {
  const auto item = parse_item("0123456789ab.pcdef01234567.0000000042");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->token, "0123456789ab");
  EXPECT_EQ(item->push, "cdef01234567");
  EXPECT_EQ(item->number, 42);
  EXPECT_EQ(parse_item("0123456789ab.pcdef01234567.9999999999")->number, 9'999'999'999);
}

// Versions that know more tags may give them to items. This one leaves those alone.
TEST(QueueLayout, AnItemWithATagThatIsNotKnownIsNoItem) {
  const Names names = {
      // The tag is another one, or missing, or there is one more.
      "0123456789ab.xcdef01234567.0000000042",
      "0123456789ab.Pcdef01234567.0000000042",
      "0123456789ab.x.0000000042",
      "0123456789ab..0000000042",
      "0123456789ab.0000000042",
      "0123456789ab.pcdef01234567.x1.0000000042",
      "0123456789ab.x1.pcdef01234567.0000000042",
      // The pusher's token is too short, too long, or none.
      "0123456789a.pcdef01234567.0000000042",
      "0123456789abc.pcdef01234567.0000000042",
      "0123456789AB.pcdef01234567.0000000042",
      ".pcdef01234567.0000000042",
      // So is the push's.
      "0123456789ab.pcdef0123456.0000000042",
      "0123456789ab.pcdef012345678.0000000042",
      "0123456789ab.pcdef0123456x.0000000042",
      "0123456789ab.p.0000000042",
      // A dot is missing.
      "0123456789abxpcdef01234567.0000000042",
      "0123456789ab.pcdef01234567x0000000042",
      // The number is too short, too long, or none, or is not the end.
      "0123456789ab.pcdef01234567.000000042",
      "0123456789ab.pcdef01234567.00000000042",
      "0123456789ab.pcdef01234567.000000004x",
      "0123456789ab.pcdef01234567.",
      "0123456789ab.pcdef01234567.0000000042.",
      "0123456789ab.pcdef01234567.0000000042.tmp",
  };
  for (const std::string& name : names) {
    EXPECT_FALSE(parse_item(name).has_value()) << name;
    EXPECT_EQ(id_of("/q/items/100-0000000000/" + name), name);
    EXPECT_EQ(push_of("/q/items/100-0000000000/" + name), "") << name;
  }
  EXPECT_EQ(item_paths("/s", names), Names());
}

TEST(QueueLayout, TagsDoNotChangeTheOrder) {
  EXPECT_EQ(item_paths("/s", {"0123456789ab.pcdef01234567.0000000002", "z-0000000001",
                              "ab0123456789.pcdef01234567.0000000000", "a-0000000003"}),
            (Names{"/s/ab0123456789.pcdef01234567.0000000000", "/s/z-0000000001",
                   "/s/0123456789ab.pcdef01234567.0000000002", "/s/a-0000000003"}));
}

TEST(QueueLayout, AnIdHasNoTags) {
  for (const char* segment : {"/q/items/100-0000000000/", "/q/dead/100-0000000000/", "/"}) {
    EXPECT_EQ(id_of(std::string(segment) + "0123456789ab.pcdef01234567.0000000042"), "0123456789ab-0000000042");
    EXPECT_EQ(id_of(std::string(segment) + "0123456789ab-0000000042"), "0123456789ab-0000000042");
    EXPECT_EQ(push_of(std::string(segment) + "0123456789ab.pcdef01234567.0000000042"), "cdef01234567");
    EXPECT_EQ(push_of(std::string(segment) + "0123456789ab-0000000042"), "");
  }
}

TEST(QueueLayout, TheTagsOfAnAwaitedPushAreFoundInTheName) {
  EXPECT_EQ(tags_for(""), "");
  EXPECT_EQ(tags_for("cdef01234567"), ".pcdef01234567");
  const std::string token = make_token(), push = make_token();
  const std::string name = token + tags_for(push) + ".0000000042";
  const auto item = parse_item(name);
  ASSERT_TRUE(item.has_value()) << name;
  EXPECT_EQ(item->token, token);
  EXPECT_EQ(item->push, push);
}

TEST(QueueLayout, TokensDiffer) {
  EXPECT_EQ(make_token().size(), 12u);
  EXPECT_TRUE(is_token(make_token()));
  EXPECT_NE(make_token(), make_token());
}

TEST(QueueLayout, Paths) {
  const QueueLayout layout{"/q"};
  EXPECT_EQ(segment_path(layout.items(), {100, 1}), "/q/items/100-0000000001");
  EXPECT_EQ(claim_of("/q/items/100-0000000001/t-0000000002"), "/q/items/100-0000000001/t-0000000002/claim");
  EXPECT_EQ(why_of(layout.dead_of("/q/items/005-0000000000/t-0000000002")), "/q/dead/005-0000000000/t-0000000002/why");
  EXPECT_EQ(layout.marker("t"), "/q/pushing/t");
  EXPECT_EQ(layout.awaited_push("t"), "/q/awaited/t");
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
