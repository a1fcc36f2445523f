// SPDX-License-Identifier: Apache-2.0
// recipe/use, recipe/group/group, roster and command/group/group, as far as they need no server.
#include "recipe/group/group.h"

#include "command/group/group.h"
#include "recipe/group/roster.h"
#include "recipe/line.h"
#include "recipe/use.h"

#include <limits>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace group_test {

using Changes = std::vector<MemberChange>;
using command::Format;

constexpr bool kLeft = false;
constexpr bool kJoined = true;

Members members(const std::vector<std::string>& names) {
  Members all;
  for (const std::string& name : names) all[name] = {};
  return all;
}

TEST(Group, TheMarkSaysWhatAPathIs) {
  EXPECT_EQ(mark_of(kKeptGroup), PathMark::kept_group);
  EXPECT_EQ(mark_of(kPassingGroup), PathMark::passing_group);
  EXPECT_EQ(mark_of("zklock group 2"), PathMark::newer_group);
  EXPECT_EQ(mark_of("zklock queue 1"), PathMark::queue);
  EXPECT_EQ(mark_of(""), PathMark::none);
  EXPECT_EQ(mark_of("10.0.0.1"), PathMark::none);
}

TEST(Group, TheLengthOfItsMarkIsEnoughToSeeThatItMayBeOne) {
  zk::Stat stat;
  EXPECT_FALSE(may_be_group(stat));
  for (const std::string_view mark : {kKeptGroup, kPassingGroup}) {
    stat.data_length = static_cast<int32_t>(mark.size());
    EXPECT_TRUE(may_be_group(stat));
  }
}

TEST(Group, WhatStandsInLineForALockIsNoMember) {
  const std::string uuid = "_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60";
  const std::string hex = "3f1c2d4e5f600f6b1b1e9d0c4b368a5e";
  for (const std::string& name :
       {uuid + "-lock-0000000001", uuid + "-shared-lock-0000000001", uuid + "-lease-0000000001",
        uuid + "-__WRIT__0000000001", hex + "__lock__0000000001", hex + "__rlock__0000000001"}) {
    EXPECT_TRUE(is_lock_name(name)) << name;
    EXPECT_TRUE(other_use({"web1", name})) << name;
  }
  for (const char* name : {"web1", "web1-0000000001", "my-lock-0000000001", "x-72057594037927936-0000000001",
                           "0123456789abcdef__party__", "_c_x-lock-1", "0000000001"}) {
    EXPECT_FALSE(is_lock_name(name)) << name;
    EXPECT_FALSE(other_use({name})) << name;
  }
  EXPECT_TRUE(other_use({"leases"}));
}

TEST(Group, WhoHasListedManyRestsButNotForLong) {
  using std::chrono::milliseconds;
  EXPECT_EQ(rest_after(0), Duration::zero());
  EXPECT_EQ(rest_after(10), milliseconds(1));
  EXPECT_EQ(rest_after(1'000), milliseconds(100));
  EXPECT_EQ(rest_after(10'000), milliseconds(1'000));
  EXPECT_EQ(rest_after(std::numeric_limits<int32_t>::max()), milliseconds(1'000));
}

TEST(Group, AMembersNameIsTheStemAndTenDigits) {
  EXPECT_TRUE(is_numbered("web-1-0000000007", "web-1-"));
  for (const char* name : {"web-1-", "web-1-000000007", "web-1-00000000071", "web-1-000000000x", "web-0000000007"}) {
    EXPECT_FALSE(is_numbered(name, "web-1-")) << name;
  }
}

TEST(Group, AContainerIsNobodys) {
  zk::Stat stat;
  EXPECT_FALSE(is_ephemeral(stat));
  stat.ephemeral_owner = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(is_ephemeral(stat));
  stat.ephemeral_owner = 0x1000;
  EXPECT_TRUE(is_ephemeral(stat));
}

TEST(Group, ChangesAreToldByNameFirstWhoHasLeft) {
  EXPECT_EQ(changes_between({}, {}), Changes());
  EXPECT_EQ(changes_between(members({"a", "b"}), members({"a", "b"})), Changes());
  EXPECT_EQ(changes_between(members({"a", "b", "d"}), members({"b", "c", "e"})),
            (Changes{{kLeft, "a"}, {kLeft, "d"}, {kJoined, "c"}, {kJoined, "e"}}));
  Members another = members({"a"});
  another["a"].stat.created = 7;
  EXPECT_EQ(changes_between(members({"a"}), another), (Changes{{kLeft, "a"}, {kJoined, "a"}}));
}

TEST(Group, NamesAndDataCannotFakeALine) {
  const Members all{{"a\n+b", {"x\n\x1b[31m", {}}}};
  EXPECT_EQ(text_of("/g", all, Format::text), "a\\x0a+b\n");
  EXPECT_EQ(command::text_of("/g", {kJoined, "a\n+b"}, all, false), "+a\\x0a+b\n");
  const std::string json = command::text_of("/g", {kJoined, "a\n+b"}, all, true);
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  const std::string table = command::table_of("/g", all);
  EXPECT_NE(table.find("x\\x0a\\x1b[31m"), std::string::npos);
}

TEST(Group, AnEmptyOnePrintsNothing) {
  EXPECT_EQ(command::text_of("/g", Members(), Format::text), "");
  EXPECT_EQ(command::text_of("/g", Members(), Format::json), "");
  EXPECT_EQ(command::table_of("/g", {}), "");
}

}  // namespace group_test
}  // namespace zklock::recipe
