// SPDX-License-Identifier: Apache-2.0
// recipe/group/group: groups that are made and deleted while others use them.
#include "recipe/group/group.h"

#include "recipe/group/member.h"
#include "support/proxied.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace group_recipe_test {

using test::Script;

class GroupTest : public test::Proxied {
 protected:
  GroupTest() { session_.open(); }

  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_)};
};

TEST_F(GroupTest, ThatOthersKeepJoiningEndsItsRemoval) {
  constexpr int kEnough = 300;  // turns; then no client joins any more
  make_kept_group(session_, "/g", "cannot create /g");
  GroupMember(observer_.session(), {"/g", "first", false, ""}).join();
  const Script script(loop_, [&, turns = 0]() mutable {
    if (++turns < kEnough) GroupMember(observer_.session(), {"/g", "more", false, ""}).join();
  });
  EXPECT_EQ(remove_group(session_, "/g", true, "cannot delete /g").end, RemovalEnd::not_empty);
}

// Another program writes its data at each moment while the group is made.
TEST_F(GroupTest, TheDataOfAnotherProgramIsNotOverwritten) {
  bool late = false;
  int moment = 0;
  for (; !late; ++moment) {
    const std::string group = fmt::format("/g{}", moment);
    observer_.create(group);
    int turn = 0;
    {
      const Script script(loop_, [&] {
        if (turn++ == moment) observer_.write(group, "theirs");
      });
      make_kept_group(session_, group, "cannot create " + group);
    }
    late = turn <= moment;
    if (!late) {
      EXPECT_EQ(observer_.read(group).data, "theirs") << "in turn " << moment;
    }
  }
  EXPECT_GT(moment, 2);
}

}  // namespace group_recipe_test
}  // namespace zklock::recipe
