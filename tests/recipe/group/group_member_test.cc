// SPDX-License-Identifier: Apache-2.0
// recipe/group/member against real servers, through a failing proxy: twins of the same name, and lost answers.
#include "recipe/group/group.h"
#include "recipe/group/member.h"
#include "support/proxied.h"
#include "zk/path.h"

#include <algorithm>
#include <functional>
#include <poll.h>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace group_member_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

class GroupMemberTest : public test::Proxied {
 protected:
  zk::Session& open(Duration session_timeout = 4s) {
    session_ = std::make_unique<zk::Session>(loop_, test::options_for(through_proxy_, session_timeout));
    session_->open();
    return *session_;
  }
  // Returns the nodes that our session has in the group.
  std::vector<std::string> ours(const std::string& group = "/g") {
    std::vector<std::string> found;
    for (const std::string& name : observer_.children(group)) {
      const std::string path = zk::child_of(group, name);
      if (observer_.read(path).stat.ephemeral_owner == session_->id()) found.push_back(path);
    }
    return found;
  }
  // Loses the answer to the request that follows so many answers.
  auto losing_after(uint64_t answers) {
    const uint64_t from = session_->client().answers() + answers;
    return [this, from, told = false]() mutable {
      if (told || session_->client().answers() < from) return;
      told = true;
      proxy_.lose_next_answer();
    };
  }
  // Calls `step` once the member has looked for its group, and before it makes anything.
  auto before_it_is_made(std::function<void()> step) {
    const uint64_t from = session_->client().answers() + 3;  // a sync, the group, the root
    return [this, from, step = std::move(step), done = false]() mutable {
      if (done || session_->client().answers() < from) return;
      done = true;
      step();
    };
  }
  // Loses the requests sent from now on: the connection breaks before they arrive.
  auto losing_requests() {
    proxy_.set(FaultProxy::Mode::silent);
    ::poll(nullptr, 0, 50);  // the proxy checks its mode that often
    return [this, at = deadline_in(200ms)]() mutable {
      if (at == kNever || BootClock::now() < at) return;
      at = kNever;
      proxy_.cut();
      proxy_.set(FaultProxy::Mode::pass);
    };
  }

  host::Loop loop_;
  std::unique_ptr<zk::Session> session_;
};

TEST_F(GroupMemberTest, ALostAnswerLeavesOneMemberAmongItsTwins) {
  std::vector<std::unique_ptr<GroupMember>> twins;
  for (int i = 0; i < 8; ++i) {
    twins.push_back(std::make_unique<GroupMember>(observer_.session(), Membership{"/g", "web", false, "twin"}));
    ASSERT_EQ(twins.back()->join(), MemberState::in);
  }
  open();
  for (uint64_t answers = 0; answers < 5; ++answers) {
    GroupMember member(*session_, {"/g", "web", false, "me"});
    const Script script(loop_, losing_after(answers));
    ASSERT_EQ(member.join(), MemberState::in);
    EXPECT_EQ(ours(), std::vector<std::string>{member.path()}) << "the answer behind " << answers;
    member.leave(20s);
    session_->reopen();
  }
  EXPECT_GT(proxy_.lost(), 2);
}

TEST_F(GroupMemberTest, ALostAnswerForAUniqueNameLeavesItOurs) {
  GroupMember(observer_.session(), {"/g", "other", true, ""}).join();
  open();
  for (uint64_t answers = 0; answers < 5; ++answers) {
    GroupMember member(*session_, {"/g", "web", true, "me"});
    const Script script(loop_, losing_after(answers));
    ASSERT_EQ(member.join(), MemberState::in) << "the answer behind " << answers;
    EXPECT_EQ(ours(), std::vector<std::string>{"/g/web"});
    member.leave(20s);
    session_->reopen();
  }
}

TEST_F(GroupMemberTest, ALostAnswerOfTheFirstLeavesOneMemberOfTheGroupThatItMakes) {
  open();
  for (uint64_t answers = 0; answers < 8; ++answers) {
    const std::string above = fmt::format("/above{}", answers);
    GroupMember member(*session_, {above + "/g", "web", answers % 2 == 0, "me"});
    const Script script(loop_, losing_after(answers));
    ASSERT_EQ(member.join(), MemberState::in) << "the answer behind " << answers;
    EXPECT_EQ(ours(above + "/g"), std::vector<std::string>{member.path()}) << "the answer behind " << answers;
    EXPECT_EQ(observer_.read(above + "/g").data, kPassingGroup);
    EXPECT_EQ(observer_.read(member.path()).data, "me");
    member.leave(20s);
    EXPECT_TRUE(ours(above + "/g").empty()) << "the answer behind " << answers;
    session_->reopen();
  }
  EXPECT_GT(proxy_.lost(), 5);
}

// Two round trips: one to look, and one to make the group and the member.
TEST_F(GroupMemberTest, TheFirstIsInWithTheGroup) {
  open();
  session_->make_parents("/g");  // the chroot
  for (const bool unique : {false, true}) {
    const std::string group = unique ? "/u" : "/g";
    GroupMember member(*session_, {group, "web", unique, "me"});
    const int before = proxy_.requests(test::opcode::kRead) + proxy_.requests(test::opcode::kChildren);
    ASSERT_EQ(member.join(), MemberState::in);
    EXPECT_EQ(proxy_.requests(test::opcode::kRead) + proxy_.requests(test::opcode::kChildren) - before, 2);
    EXPECT_EQ(ours(group), std::vector<std::string>{member.path()});
    EXPECT_TRUE(member.is_disturbed());
    EXPECT_EQ(member.look(), MemberState::in);
    EXPECT_FALSE(member.is_disturbed());
  }
}

TEST_F(GroupMemberTest, NoLineThatIsMadeMeanwhileEverHasTheMember) {
  open();
  for (const bool unique : {false, true}) {
    const std::string lock = unique ? "/u" : "/l";
    const Script script(loop_, before_it_is_made([&] {
                          observer_.create(lock);
                          observer_.create(lock + "/_c_00000000-0000-4000-8000-000000000000-lock-0000000000");
                        }));
    GroupMember member(*session_, {lock, "web", unique, "me"});
    try {
      member.join();
      FAIL() << lock;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::bad_data) << failure.text();
    }
    EXPECT_EQ(observer_.read(lock).stat.child_version, 1);
  }
}

// Nothing tells the node from the group's before its mark is read.
TEST_F(GroupMemberTest, AnEmptyNodeOfAnotherUseThatIsMadeMeanwhileIsLeftAgain) {
  open();
  for (const bool unique : {false, true}) {
    const std::string queue = unique ? "/u" : "/q";
    const Script script(loop_, before_it_is_made([&] { observer_.create(queue, std::string(kQueueFormat)); }));
    GroupMember member(*session_, {queue, "web", unique, "me"});
    EXPECT_THROW(member.join(), Failure);
    member.leave(20s);
    EXPECT_TRUE(observer_.children(queue).empty()) << queue;
    session_->reopen();
  }
}

TEST_F(GroupMemberTest, AGroupThatAnotherMakesMeanwhileIsJoined) {
  open();
  for (const bool unique : {false, true}) {
    for (const bool joined : {false, true}) {
      const std::string group = fmt::format("/g{}{}", unique, joined);
      const Script script(loop_, before_it_is_made([&] {
                            observer_.create(group, std::string(kKeptGroup));
                            if (joined) observer_.create(group + "/other");
                          }));
      GroupMember member(*session_, {group, "web", unique, "me"});
      ASSERT_EQ(member.join(), MemberState::in);
      EXPECT_EQ(ours(group), std::vector<std::string>{member.path()});
    }
  }
}

TEST_F(GroupMemberTest, WhoseSessionIsOverIsNotRemovedButExpired) {
  open(500ms);
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  proxy_.set(FaultProxy::Mode::silent);
  while (!observer_.children("/g").empty()) ::poll(nullptr, 0, 20);
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_THROW(member.look(), zk::SessionOver);
}

TEST_F(GroupMemberTest, DataThatWasLostOnItsWayIsWrittenAgain) {
  open();
  GroupMember member(*session_, {"/g", "web", false, "old"});
  ASSERT_EQ(member.join(), MemberState::in);
  const Script script(loop_, losing_requests());
  EXPECT_EQ(member.set_data("new"), MemberState::in);
  EXPECT_EQ(observer_.read(member.path()).data, "new");
}

// The write fires the watch on the node. If the fired watch stayed, zklock would look again and again.
TEST_F(GroupMemberTest, ALookBehindItsOwnWriteSetsANewWatch) {
  open();
  GroupMember member(*session_, {"/g", "web", false, "old"});
  ASSERT_EQ(member.join(), MemberState::in);
  ASSERT_EQ(member.look(), MemberState::in);
  ASSERT_EQ(member.set_data("new"), MemberState::in);
  ASSERT_TRUE(test::eventually(loop_, [&] { return member.is_disturbed(); }));
  EXPECT_EQ(member.look(), MemberState::in);
  EXPECT_FALSE(member.is_disturbed());
}

// The write does not arrive, and before the next connection another client has taken the name.
TEST_F(GroupMemberTest, DataIsNotWrittenOnTheNodeOfAnotherThatHasTheNameByThen) {
  open();
  GroupMember member(*session_, {"/g", "web", true, "old"});
  ASSERT_EQ(member.join(), MemberState::in);
  GroupMember other(observer_.session(), {"/g", "web", true, "other"});
  proxy_.break_before(test::opcode::kWrite);
  const Script script(loop_, [&] {
    if (!proxy_.is_refusing()) return;
    observer_.remove("/g/web");
    EXPECT_EQ(other.join(), MemberState::in);
    proxy_.accept_again();
  });
  EXPECT_EQ(member.set_data("new"), MemberState::removed);
  EXPECT_EQ(observer_.read("/g/web").data, "other");
}

TEST_F(GroupMemberTest, WhoeverTookItsNameMeanwhileIsAnother) {
  open();
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  observer_.remove("/g/web");
  ASSERT_EQ(GroupMember(observer_.session(), {"/g", "web", true, "other"}).join(), MemberState::in);
  EXPECT_EQ(member.look(), MemberState::removed);
}

TEST_F(GroupMemberTest, ANameIsNotWaitedForBehindItsEnd) {
  ASSERT_EQ(GroupMember(observer_.session(), {"/g", "web", true, "other"}).join(), MemberState::in);
  open();
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::taken);
  // Without this, the wait for the name would be endless.
  const Script script(loop_, [this, at = deadline_in(5s)]() mutable {
    if (BootClock::now() > std::exchange(at, BootClock::now() > at ? kNever : at)) observer_.remove("/g/web");
  });
  const zk::Within within(*session_, deadline_in(50ms));
  EXPECT_FALSE(member.wait_for_name());
}

TEST_F(GroupMemberTest, ARemovalThatWasLostIsMadeAgain) {
  open();
  GroupMember member(*session_, {"/g", "web", false, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  const Script script(loop_, losing_requests());
  member.leave(20s);
  EXPECT_TRUE(ours().empty());
}

// The answer to the removal is lost, and before the next connection another client has taken the name.
TEST_F(GroupMemberTest, ARemovalThatMayBeDoneDoesNotRemoveAnothersNode) {
  open();
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  GroupMember other(observer_.session(), {"/g", "web", true, "other"});
  proxy_.lose_next_answer();
  const Script script(loop_, [&, taken = false]() mutable {
    if (!taken && proxy_.lost() > 0) taken = other.join() == MemberState::in;
  });
  member.leave(20s);
  EXPECT_GT(proxy_.lost(), 0);
  EXPECT_EQ(other.look(), MemberState::in);
}

// Our server lags: another program has removed our node, and a third one has taken the name.
TEST_F(GroupMemberTest, ANameThatAnotherHasByNowIsNeitherWrittenNorRemoved) {
  open();
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  proxy_.swallow_events();
  observer_.remove("/g/web");
  GroupMember third(observer_.session(), {"/g", "web", true, "third"});
  ASSERT_EQ(third.join(), MemberState::in);
  EXPECT_EQ(member.set_data("mine"), MemberState::removed);
  member.leave(2s);
  EXPECT_EQ(observer_.read("/g/web").data, "third");
}

// Servers from 3.8.4 on send no event about a node that we may not read.
TEST_F(GroupMemberTest, ANameOfWhoseEndNoServerTellsIsFreeAllTheSame) {
  open();
  GroupMember holder(observer_.session(), {"/g", "web", true, "holder"});
  ASSERT_EQ(holder.join(), MemberState::in);
  GroupMember member(*session_, {"/g", "web", true, "me"});
  ASSERT_EQ(member.join(), MemberState::taken);
  proxy_.swallow_events();
  bool left = false;
  const Script script(loop_, [&] {
    if (!std::exchange(left, true)) observer_.remove("/g/web");
  });
  const zk::Within within(*session_, deadline_in(20s));
  EXPECT_TRUE(member.wait_for_name());
  EXPECT_EQ(member.join(), MemberState::in);
}

// The member may have a node there, so a second one would be too many.
TEST_F(GroupMemberTest, ALostAnswerAndAGroupThatMayNotBeListedEndIt) {
  constexpr int kNoAuth = -102;
  open();
  make_kept_group(*session_, "/g", "cannot create /g");
  GroupMember member(*session_, {"/g", "web", false, "me"});
  proxy_.lose_answer_to(test::opcode::kCreate);
  proxy_.answer_with(test::opcode::kChildren, kNoAuth);
  try {
    member.join();
    FAIL() << ours().size();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::refused) << failure.text();
  }
}

// The next server may lag: without a barrier it would not list the node, and there would be two.
TEST_F(GroupMemberTest, ALostEntryIsLookedForBehindABarrier) {
  open(30s);
  make_kept_group(*session_, "/g", "cannot create /g");
  GroupMember member(*session_, {"/g", "web", false, "me"});
  const int before = proxy_.requests(test::opcode::kTransaction);
  proxy_.lose_answer_to(test::opcode::kCreate);
  ASSERT_EQ(member.join(), MemberState::in);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction) - before, 1);
}

// A signal interrupts it after the create's answer has come, but before it is read.
TEST_F(GroupMemberTest, InterruptedOnItsWayInItLeaves) {
  GroupMember(observer_.session(), {"/g", "other", true, ""}).join();
  open();
  for (uint64_t answers = 1; answers < 5; ++answers) {
    GroupMember member(*session_, {"/g", "web", false, "me"});
    {
      const uint64_t from = session_->client().answers() + answers;
      const Script script(loop_, [&] {
        if (session_->client().answers() >= from) throw Failure::by_signal(2);
      });
      EXPECT_THROW(member.join(), Failure);
    }
    member.leave(20s);
    EXPECT_TRUE(ours().empty()) << "behind " << answers << " answers";
    session_->reopen();
  }
}

TEST_F(GroupMemberTest, InterruptedWhileItMakesItsGroupItLeaves) {
  open();
  for (uint64_t answers = 4; answers < 6; ++answers) {  // to the create of the group, and to its own
    for (const bool unique : {false, true}) {
      const std::string group = fmt::format("/g{}{}", answers, unique);
      GroupMember member(*session_, {group, "web", unique, "me"});
      {
        const uint64_t from = session_->client().answers() + answers;
        const Script script(loop_, [&] {
          if (session_->client().answers() >= from) throw Failure::by_signal(2);
        });
        EXPECT_THROW(member.join(), Failure);
      }
      member.leave(20s);
      EXPECT_TRUE(ours(group).empty()) << group;
      session_->reopen();
    }
  }
}

// A backup was restored: the server counts only what was made in the new tree, so it gives numbers that are taken.
TEST_F(GroupMemberTest, NamesThatAreTakenByNodesThatStayAreLeftOut) {
  observer_.create("/g", "zklock group 1");
  for (int number = 3; number < 6; ++number) observer_.create(fmt::format("/g/web-{:010}", number));
  open();
  GroupMember member(*session_, {"/g", "web", false, "me"});
  ASSERT_EQ(member.join(), MemberState::in);
  EXPECT_EQ(member.path(), "/g/web-0000000006");
  EXPECT_EQ(ours(), std::vector<std::string>{member.path()});
  EXPECT_EQ(observer_.children("/g").size(), 4u);
  GroupMember next(*session_, {"/g", "web", false, "me"});
  ASSERT_EQ(next.join(), MemberState::in);
  EXPECT_EQ(next.path(), "/g/web-0000000007");
}

TEST_F(GroupMemberTest, WhereTooManyNamesAreTakenItIsSaid) {
  observer_.create("/g", "zklock group 1");
  for (int number = 500; number < 1000; ++number) observer_.create(fmt::format("/g/web-{:010}", number));
  open();
  GroupMember member(*session_, {"/g", "web", false, "me"});
  EXPECT_THROW(member.join(), Failure);
}

}  // namespace group_member_test
}  // namespace zklock::recipe
