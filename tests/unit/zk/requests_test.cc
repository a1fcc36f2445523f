// SPDX-License-Identifier: Apache-2.0
#include "zk/requests.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace requests_test {

using namespace std::chrono_literals;

const Request kList{Op::children, "/l"};
const Request kCheck{Op::check, "/l"};

TEST(Losses, LossIsRememberedUntilTheRequestItselfIsAnswered) {
  Losses losses(10s);
  const Deadline first = BootClock::now();
  losses.note_loss(kList, first, ConnectionEnd::closed);
  losses.note_answer(kCheck);
  EXPECT_EQ(losses.of(kList, first + 5s).since, first);
  losses.note_answer(kList);
  EXPECT_EQ(losses.of(kList, first + 5s).since, first + 5s);
}

TEST(Losses, LossLongAgoIsAnotherMatter) {
  Losses losses(10s);
  const Deadline first = BootClock::now();
  losses.note_loss(kList, first, ConnectionEnd::closed);
  EXPECT_EQ(losses.of(kList, first + 11s).since, first + 11s);
}

TEST(Losses, CreateWithAnotherUniqueNameIsTheSame) {
  Losses losses(10s);
  const Deadline first = BootClock::now();
  losses.note_loss({Op::create, "/l/a-"}, first, ConnectionEnd::closed);
  EXPECT_EQ(losses.of({Op::create_with_stat, "/l/b-"}, first + 1s).since, first);
}

TEST(Losses, WhatIsSaidNamesTheRequestItsSizeAndTheReason) {
  Losses losses(10s);
  const Request create{Op::create, "/l/a-", 3000};
  losses.note_loss(create, BootClock::now(), ConnectionEnd::closed);
  const std::string text = describe({create, losses.of(create, BootClock::now())}, "h:1");
  EXPECT_NE(text.find("create a node below /l (3000 bytes)"), text.npos) << text;
  EXPECT_NE(text.find("lost once"), text.npos) << text;
  EXPECT_NE(text.find("jute.maxbuffer"), text.npos) << text;
}

TEST(Outstanding, OnlyTheFirstOfALostConnectionIsToBlame) {
  Outstanding outstanding(10s);
  outstanding.note_sent(kList, BootClock::now());
  outstanding.note_sent(kCheck, BootClock::now());
  outstanding.note_loss(true, ConnectionEnd::closed);
  outstanding.note_loss(false, ConnectionEnd::closed);
  EXPECT_EQ(outstanding.losses().of(kList, BootClock::now()).number, 1);
  EXPECT_EQ(outstanding.losses().of(kCheck, BootClock::now()).number, 0);
}

TEST(Outstanding, WhoOwesNothingIsNeitherSilentNorStuck) {
  Outstanding outstanding(0s);
  EXPECT_EQ(outstanding.silent_since(BootClock::now()), kNever);
  EXPECT_FALSE(outstanding.stuck({}));
  outstanding.note_sent(kList, BootClock::now());
  EXPECT_EQ(outstanding.silent_since({}), outstanding.last_sent());
  EXPECT_TRUE(outstanding.stuck({}));
  outstanding.note_answer();
  EXPECT_EQ(outstanding.oldest(), nullptr);
  EXPECT_EQ(outstanding.stuck_at({}), kNever);
}

TEST(Outstanding, ARequestHasItsTurnWhenThoseBeforeItHaveTheirAnswers) {
  Outstanding outstanding(10s);
  outstanding.note_sent(kList, BootClock::now());
  outstanding.note_sent(kCheck, BootClock::now());
  const Deadline sent = outstanding.last_sent();
  while (BootClock::now() == sent) continue;
  outstanding.note_answer();
  EXPECT_GT(outstanding.silent_since({}), sent);
  EXPECT_EQ(outstanding.stuck_at({}), outstanding.silent_since({}) + 10s);
}

TEST(Outstanding, AnAnswerThatIsArrivingIsNoSilenceAndLetArrive) {
  Outstanding outstanding(10s);
  outstanding.note_sent(kList, BootClock::now());
  const Deadline progressed = outstanding.last_sent() + 5s;
  EXPECT_EQ(outstanding.silent_since(progressed), progressed);
  EXPECT_EQ(outstanding.stuck_at(progressed), progressed + 10s);
}

TEST(Watches, AllWhoWaitForTheSameAreToldByOneNumber) {
  Watches watches;
  const Watch first = std::make_shared<WatchState>();
  const Watch second = std::make_shared<WatchState>();
  const Watch other = std::make_shared<WatchState>();
  const uintptr_t number = watches.keep(Op::read, "/l", first).number;
  EXPECT_EQ(watches.keep(Op::read, "/l", second).number, number);
  EXPECT_NE(watches.keep(Op::children, "/l", other).number, number);
  watches.fire(number, false);
  EXPECT_TRUE(first->fired && second->fired);
  EXPECT_FALSE(first->gone || second->gone);
  EXPECT_FALSE(other->fired);
}

TEST(Watches, OneThatWasNotSetIsForgottenAlone) {
  Watches watches;
  const Watch lost = std::make_shared<WatchState>();
  const Watch kept = std::make_shared<WatchState>();
  const NumberedWatch dropped = watches.keep(Op::exists, "/l", lost);
  const uintptr_t number = watches.keep(Op::exists, "/l", kept).number;
  watches.drop(dropped);
  EXPECT_FALSE(kept->fired);
  watches.fire(number, true);
  EXPECT_FALSE(lost->fired);
  EXPECT_TRUE(kept->fired && kept->gone);
}

class RepertoireTest : public testing::Test {
 protected:
  void SetUp() override { forget_support(); }
  void TearDown() override { forget_support(); }
};

using Repertoire = RepertoireTest;

TEST_F(Repertoire, RefusalIsBelievedAtOnce) {
  note_support(Feature::container, Support::refused);
  EXPECT_FALSE(is_supported(Feature::container));
  EXPECT_TRUE(is_supported(Feature::create_with_stat));
}

TEST_F(Repertoire, OneLossIsEnoughToDoWithoutStat) {
  note_support(Feature::create_with_stat, Support::doubtful);
  EXPECT_FALSE(is_supported(Feature::create_with_stat));
}

TEST_F(Repertoire, ContainersAreGivenUpAfterTwoLossesInRow) {
  note_support(Feature::container, Support::doubtful);
  note_support(Feature::container, Support::given);
  note_support(Feature::container, Support::doubtful);
  EXPECT_TRUE(is_supported(Feature::container));
  note_support(Feature::container, Support::doubtful);
  EXPECT_FALSE(is_supported(Feature::container));
}

}  // namespace requests_test
}  // namespace zklock::zk
