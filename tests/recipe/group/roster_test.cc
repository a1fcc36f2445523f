// SPDX-License-Identifier: Apache-2.0
// recipe/group/roster: nodes that are others at the next look, though they have the same name.
#include "recipe/group/roster.h"

#include "recipe/group/member.h"
#include "support/proxied.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace roster_test {

class RosterTest : public test::Proxied {
 protected:
  RosterTest() { session_.open(); }

  // Returns the names of the members that the roster shows now.
  std::vector<std::string> look() {
    roster_.look();
    std::vector<std::string> names;
    for (const auto& [name, member] : roster_.members()) names.push_back(name);
    return names;
  }

  using Names = std::vector<std::string>;
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_)};
  GroupRoster roster_{session_, "/g", true};
  GroupMember member_{observer_.session(), {"/g", "db", true, "new"}};
};

TEST_F(RosterTest, ANodeThatIsAMemberByNowIsOne) {
  observer_.create("/g/db");
  EXPECT_EQ(look(), Names());
  observer_.remove("/g/db");
  ASSERT_EQ(member_.join(), MemberState::in);
  EXPECT_EQ(look(), Names{"db"});
}

TEST_F(RosterTest, AMemberThatIsNoneByNowIsNone) {
  ASSERT_EQ(member_.join(), MemberState::in);
  EXPECT_EQ(look(), Names{"db"});
  observer_.remove("/g/db");
  observer_.create("/g/db");
  EXPECT_EQ(look(), Names());
}

TEST_F(RosterTest, AMemberThatHasJoinedAgainHasItsNewData) {
  GroupMember before(observer_.session(), {"/g", "db", true, "old"});
  ASSERT_EQ(before.join(), MemberState::in);
  EXPECT_EQ(look(), Names{"db"});
  before.leave(std::chrono::seconds(20));
  observer_.session().reopen();
  ASSERT_EQ(member_.join(), MemberState::in);
  EXPECT_EQ(look(), Names{"db"});
  EXPECT_EQ(roster_.members().at("db").data, "new");
}

// One pass asks for both; a server refuses only the data.
TEST_F(RosterTest, AMemberWhoseDataMayNotBeReadIsOneAllTheSame) {
  constexpr int kNoAuth = -102;
  ASSERT_EQ(member_.join(), MemberState::in);
  zk::Session session(loop_, test::options_for(through_proxy_));
  session.open();
  GroupRoster roster(session, "/g", true);
  proxy_.answer_with(test::opcode::kRead, kNoAuth);
  roster.look();
  ASSERT_TRUE(roster.members().contains("db"));
  EXPECT_EQ(roster.members().at("db").data, "");
  EXPECT_NE(roster.members().at("db").stat.ephemeral_owner, 0);
}

// The mark is read in the same round trip as the list.
TEST_F(RosterTest, TheFirstLookTellsAQueueWhateverAnswerIsLost) {
  observer_.create("/g", "zklock queue 1");
  for (uint64_t answers = 0; answers < 4; ++answers) {
    zk::Session session(loop_, test::options_for(through_proxy_));
    session.open();
    GroupRoster roster(session, "/g", false, "cannot list /g");
    const uint64_t from = session.client().answers() + answers;
    const test::Script script(loop_, [&, told = false]() mutable {
      if (told || session.client().answers() < from) return;
      told = true;
      proxy_.lose_next_answer();
    });
    try {
      roster.look();
      FAIL() << "the answer behind " << answers;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::bad_data) << failure.text();
    }
  }
}

}  // namespace roster_test
}  // namespace zklock::recipe
