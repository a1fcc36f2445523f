// SPDX-License-Identifier: Apache-2.0
// recipe/lock/survey: contenders that have a slot; and many nodes, some of which go while they are read. Tests of the
// program cover the rest.
#include "recipe/lock/survey.h"

#include "support/fault_proxy.h"
#include "support/sandbox.h"

#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace survey_test {

using namespace std::chrono_literals;

// Returns a participant; they come in the order of their czxid.
Participant participant(const std::string& name, int64_t session, int64_t created) {
  Participant participant{*parse_contender("x-1-0000000000"), name, {}, {}, false};
  participant.stat.ephemeral_owner = session;
  participant.stat.created = created;
  return participant;
}

std::string shown(const std::vector<Participant>& participants) {
  std::string text;
  for (const Participant& p : participants) text += fmt::format("{}{} ", p.node, p.holding ? "+" : "-");
  return text;
}

TEST(SurveyOfSlots, WhoHasALeaseHoldsAndWhoIsAtTheGateWaits) {
  EXPECT_EQ(shown(line_up_for_slots({}, {})), "");
  EXPECT_EQ(shown(line_up_for_slots({participant("a", 1, 2), participant("b", 2, 4)}, {})), "a+ b+ ");
  EXPECT_EQ(shown(line_up_for_slots({participant("a", 1, 2)}, {participant("b", 2, 3), participant("c", 3, 4)})),
            "a+ b- c- ");
}

TEST(SurveyOfSlots, TheFirstAtTheGateWaitsWithHisLeaseAndIsListedOnce) {
  EXPECT_EQ(shown(line_up_for_slots({participant("a", 1, 2), participant("b", 2, 4)},
                                    {participant("gate", 2, 3), participant("c", 3, 5)})),
            "a+ b- c- ");
}

TEST(SurveyOfSlots, OthersOfTheSameSessionAreTheirOwn) {
  // One Java program has two slots, waits for a third one with a lease, and for a fourth one without.
  EXPECT_EQ(shown(line_up_for_slots({participant("a", 1, 2), participant("b", 1, 4), participant("c", 1, 7)},
                                    {participant("gate", 1, 5), participant("d", 1, 6)})),
            "a+ b+ c- d- ");
}

TEST(SurveyOfSlots, AnOlderLeaseOfTheFirstAtTheGateIsNotThePendingOne) {
  EXPECT_EQ(shown(line_up_for_slots({participant("a", 1, 2)}, {participant("b", 1, 3)})), "a+ b- ");
}

TEST(Survey, OnlyOfAQueueItIsSaidThatItIsNoLock) {
  check_is_lock(PathUse::lock, "cannot show /l");
  check_is_lock(PathUse::slots, "cannot show /l");
  try {
    check_is_lock(PathUse::queue, "cannot show /l");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_data);
    EXPECT_EQ(failure.text(), "cannot show /l: it is a queue, not a lock; see zklock queue list");
  }
}

class SurveyTest : public testing::Test {
 protected:
  SurveyTest() { session_.open(); }

  // Sends all requests together.
  std::vector<std::string> make(const std::vector<std::string>& paths, zk::CreateMode mode) {
    std::vector<zk::Call> calls;
    for (const std::string& path : paths) calls.push_back(others_.session().client().create(path, "text", mode));
    std::vector<std::string> made;
    for (const zk::Call& call : calls) made.push_back(others_.session().await(call).path);
    return made;
  }

  std::string chroot_ = test::shared_servers() + test::new_chroot();
  test::Observer others_{chroot_};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(chroot_)};
};

TEST_F(SurveyTest, WhoGoesWhileItReadsIsLeftOut) {
  others_.create("/l/other");
  const auto nodes = make(std::vector<std::string>(300, "/l/x-1-"), zk::CreateMode::ephemeral_sequential);
  size_t removed = 0;
  const test::Script script(loop_, [&] {
    if (removed < 100) others_.remove(nodes[nodes.size() - ++removed]);
  });
  const Survey survey = survey_paths(session_, {"/l"}).front();
  ASSERT_GT(removed, 2u);
  EXPECT_GE(survey.participants.size(), nodes.size() - removed);
  EXPECT_LT(survey.participants.size(), nodes.size());
  EXPECT_EQ(survey.participants.front().node, nodes.front());
  EXPECT_EQ(survey.holders().size(), 1u);
  for (const Participant& participant : survey.participants) {
    EXPECT_EQ(participant.data, "text") << participant.node;
    EXPECT_EQ(participant.stat.ephemeral_owner, others_.session().id()) << participant.node;
  }
}

// The lock may be handed over at any moment.
TEST_F(SurveyTest, ALockThatIsHandedOverIsNotFree) {
  others_.create("/l/other");
  bool late = false;
  int moment = 0;
  for (; !late; ++moment) {
    const std::string holder = make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
    std::string next;
    int turn = 0;
    {
      const test::Script script(loop_, [&] {
        if (turn++ != moment) return;
        next = make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
        others_.remove(holder);
      });
      EXPECT_EQ(survey_paths(session_, {"/l"}).front().holders().size(), 1u) << "in turn " << moment;
    }
    late = turn <= moment;
    others_.remove(late ? holder : next);
  }
  EXPECT_GT(moment, 2);
}

// The survey ends within a bound, however fast the lock is handed over.
TEST_F(SurveyTest, ALockThatIsHandedOverAllTheTimeEndsIt) {
  others_.create("/l/other");
  std::string holder = make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
  int turns = 0;
  const test::Script script(loop_, [&] {
    ++turns;
    const std::string next = make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
    others_.remove(std::exchange(holder, next));
  });
  EXPECT_LE(survey_paths(session_, {"/l"}).front().participants.size(), 1u);
  EXPECT_LT(turns, 300);  // ten looks of some turns each
}

TEST_F(SurveyTest, ALargeTreeIsLookedThroughInParts) {
  std::vector<std::string> folders, locks;
  for (int i = 0; i < 700; ++i) folders.push_back(fmt::format("/t/{:03}", i));
  for (int i = 0; i < 700; i += 7) locks.push_back(fmt::format("/t/{:03}/l", i));
  others_.create("/t/other");
  make(folders, zk::CreateMode::persistent);
  make(locks, zk::CreateMode::persistent);
  for (const std::string& lock : locks) make({lock + "/x-1-"}, zk::CreateMode::ephemeral_sequential);
  std::vector<std::string> found;
  for (const Survey& survey : survey_trees(session_, {"/"})) found.push_back(survey.path);
  EXPECT_EQ(found, locks);
}

TEST_F(SurveyTest, AContenderThatMayNotBeReadStandsInLine) {
  others_.create("/l/other");
  host::Loop loop;
  zk::SessionOptions options = test::options_for(chroot_);
  options.credentials = "me:secret";
  options.acl = zk::Acl::creator;
  zk::Session owner(loop, options);
  owner.open();
  owner.await(owner.client().create("/l/x-1-", "text", zk::CreateMode::ephemeral_sequential));
  make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential);
  const Survey survey = survey_paths(session_, {"/l"}).front();
  ASSERT_EQ(survey.participants.size(), 2u);
  EXPECT_EQ(survey.participants.front().stat.ephemeral_owner, owner.id());
  EXPECT_EQ(survey.participants.front().data, "");
  EXPECT_EQ(survey.participants.back().data, "text");
}

// Whoever gets a slot has it before it leaves the gate.
TEST_F(SurveyTest, WhoLeavesTheGateWithASlotHolds) {
  others_.create("/s/leases/other");
  others_.create("/s/locks/other");
  const std::string gate = make({"/s/locks/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
  make({"/s/leases/x-1-"}, zk::CreateMode::ephemeral_sequential);
  bool left = false;
  {
    const test::Script script(loop_, [&] {
      if (!std::exchange(left, true)) others_.remove(gate);
    });
    EXPECT_EQ(survey_paths(session_, {"/s"}).front().participants.size(), 1u);
  }
  ASSERT_TRUE(left);
  const Survey survey = survey_paths(session_, {"/s"}).front();
  EXPECT_EQ(survey.use, PathUse::slots);
  EXPECT_EQ(survey.holders().size(), 1u);
}

TEST_F(SurveyTest, TheLastSuccessIsThatOfWhoHasGone) {
  others_.create("/l/other");
  others_.create("/l.last", "old");
  const std::string node = make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential).front();
  const int64_t before = others_.session().read("/l.last").stat.modified_ms;
  EXPECT_EQ(survey_paths(session_, {"/l"}).front().last_success_ms, before);
  bool gone = false;
  int64_t written = 0;
  const test::Script script(loop_, [&] {
    if (std::exchange(gone, true)) return;
    others_.write("/l.last", "new");
    written = others_.session().read("/l.last").stat.modified_ms;
    others_.remove(node);
  });
  const Survey survey = survey_paths(session_, {"/l"}).front();
  if (survey.participants.empty()) {
    EXPECT_EQ(survey.last_success_ms, written);
  }
}

// All that may be of interest is asked at once, in two flights if it is held.
TEST_F(SurveyTest, AsksForNothingTwice) {
  others_.create("/l/other");
  make({"/l/x-1-"}, zk::CreateMode::ephemeral_sequential);
  test::FaultProxy proxy(test::shared_servers());
  zk::Session session(loop_, test::options_for(proxy.address() + chroot_.substr(chroot_.find('/')), 60s));
  session.open();
  survey_paths(session, {"/l"});
  EXPECT_EQ(proxy.requests(test::opcode::kChildren), 3);
  EXPECT_EQ(proxy.requests(test::opcode::kExists), 1);
  EXPECT_EQ(proxy.requests(test::opcode::kRead), 1);
}

// Another server may have granted the lock.
TEST_F(SurveyTest, LooksBehindASync) {
  test::FaultProxy proxy(test::shared_servers());
  zk::Session session(loop_, test::options_for(proxy.address() + chroot_.substr(chroot_.find('/')), 60s));
  session.open();
  survey_paths(session, {"/l"});
  EXPECT_EQ(proxy.requests(test::opcode::kSync), 1);
}

}  // namespace survey_test
}  // namespace zklock::recipe
