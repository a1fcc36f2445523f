// SPDX-License-Identifier: Apache-2.0
// Takes items out of a queue and ends them, against a real server, through a failing proxy.
#include "recipe/queue/consumer.h"

#include "support/queue_worker.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace consumer_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;
using test::texts;
using Texts = std::vector<std::string>;
using Worker = test::QueueWorker;

class ConsumerTest : public test::QueueOfTen {};

TEST_F(ConsumerTest, TakesItemsInOrderAndRemovesThem) {
  Worker worker(server_ + chroot_);
  worker.remove(worker.take(1));
  const auto items = worker.take(3);
  EXPECT_EQ(texts(items), (Texts{"1", "2", "3"}));
  EXPECT_EQ(items.front().attempts, 1);
  worker.remove(items);
  EXPECT_EQ(left(), 6u);
  EXPECT_TRUE(worker.acks.lost().empty());
}

TEST_F(ConsumerTest, TwoNeverHaveTheSameItem) {
  Worker a(server_ + chroot_), b(server_ + chroot_);
  EXPECT_EQ(texts(b.take(1)), (Texts{"0"}));
  // The batch of four fails as a whole, and its first item is taken.
  EXPECT_EQ(texts(a.take(4)), (Texts{"1", "2", "3"}));
  EXPECT_EQ(texts(a.take(4)), (Texts{"4", "5", "6", "7"}));
  // All that b looked at before may be taken: then a batch comes out empty.
  auto items = b.take(4);
  while (items.empty()) items = b.take(4);
  EXPECT_EQ(std::set<std::string>({"8", "9"}), std::set<std::string>({items[0].data, items[1].data}));
}

TEST_F(ConsumerTest, NothingIsThereOnlyWhenAllIsTaken) {
  Worker a(server_ + chroot_), b(server_ + chroot_);
  const auto items = a.take(10);
  EXPECT_EQ(items.size(), 10u);
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_TRUE(b.consumer.some_in_work());
  a.remove(items);
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_FALSE(b.consumer.some_in_work());
}

TEST_F(ConsumerTest, AnItemAboveANodeThatIsNotOursIsLeftOutInEachSession) {
  for (int i = 1; i < 10; ++i) observer_.remove(item(i));
  observer_.create(item(0) + "/note");
  Worker worker(server_ + chroot_);
  for (int session = 0; session < 2; ++session) {
    worker.consumer.in_work().note(item(1));  // so it looks before it claims
    EXPECT_TRUE(worker.take(1).empty());
    EXPECT_TRUE(worker.take(1).empty());
    EXPECT_FALSE(worker.consumer.some_in_work()) << "in session " << session;
    worker.session.close();
    worker.session.open();
    worker.consumer.forget_all();
  }
}

TEST_F(ConsumerTest, AnItemInWorkAboveANodeThatIsNotOursIsLeftOutOnceItsClaimHasGone) {
  for (int i = 1; i < 10; ++i) observer_.remove(item(i));
  Worker a(server_ + chroot_), b(server_ + chroot_);
  ASSERT_EQ(a.take(1).size(), 1u);
  observer_.create(item(0) + "/note");
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_TRUE(b.consumer.some_in_work());
  observer_.remove(claim(0));
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_TRUE(b.take(1).empty());
  EXPECT_FALSE(b.consumer.some_in_work());
}

TEST_F(ConsumerTest, WhatIsGivenBackDoesNotCountAndComesFirst) {
  Worker worker(server_ + chroot_);
  for (int i = 0; i < 3; ++i) {
    const auto items = worker.take(2);
    ASSERT_EQ(texts(items), (Texts{"0", "1"}));
    EXPECT_EQ(items.front().attempts, 1);
    worker.give_back(items);
    worker.session.open();
    worker.consumer.forget_all();
  }
}

TEST_F(ConsumerTest, WhatADeadSessionHadCounts) {
  Worker(server_ + chroot_).take(2);
  Worker worker(server_ + chroot_);
  const auto items = worker.take(3);
  ASSERT_EQ(texts(items), (Texts{"0", "1", "2"}));
  EXPECT_EQ(items[0].attempts, 2);
  EXPECT_EQ(items[2].attempts, 1);
}

TEST_F(ConsumerTest, AClaimWhoseAnswerIsLostIsFound) {
  for (const size_t most : {1u, 3u}) {
    Worker worker(through_proxy_);
    const auto before = worker.take(most);  // the list is known: the next request is the claim
    proxy_.lose_next_answer();
    const auto items = worker.take(most);
    EXPECT_EQ(texts(items), (most == 1 ? Texts{"1"} : Texts{"5", "6", "7"}));
    worker.remove(before);
    worker.remove(items);
  }
  EXPECT_EQ(proxy_.lost(), 2);
  EXPECT_EQ(left(), 2u);
}

// The order is kept: a claim that was lost on the way is made again before the next ones.
TEST_F(ConsumerTest, ClaimsThatNeverArriveAreMadeAgainAtTheirPlace) {
  for (const size_t most : {1u, 3u}) {
    Worker worker(through_proxy_);
    const auto first = worker.take(1);
    proxy_.set(FaultProxy::Mode::silent);
    std::this_thread::sleep_for(10ms);  // until it is silent; the list of items is good for longer
    ASSERT_TRUE(worker.consumer.begin(most));
    ASSERT_TRUE(worker.consumer.begin(most));
    proxy_.cut();
    proxy_.set(FaultProxy::Mode::pass);
    auto items = worker.consumer.collect();
    for (Item& item : worker.consumer.collect()) items.push_back(std::move(item));
    const int next = std::stoi(first.front().data) + 1;
    Texts expected;
    for (int i = 0; i < 2 * static_cast<int>(most); ++i) expected.push_back(fmt::format("{}", next + i));
    EXPECT_EQ(texts(items), expected);
    worker.remove(first);
    worker.remove(items);
  }
}

TEST_F(ConsumerTest, ARemovalWhoseAnswerIsLostIsFoundDone) {
  Worker worker(through_proxy_);
  for (const size_t most : {1u, 3u}) {
    const auto items = worker.take(most);
    proxy_.lose_next_answer();
    worker.remove(items);
  }
  EXPECT_EQ(proxy_.lost(), 2);
  EXPECT_EQ(left(), 6u);
  EXPECT_TRUE(worker.acks.lost().empty() && worker.acks.doubtful().empty());
}

TEST_F(ConsumerTest, AnItemWhoseClaimWasDeletedIsNotRemoved) {
  Worker worker(server_ + chroot_);
  const auto items = worker.take(2);
  observer_.remove(claim_of(item(0)));
  worker.remove(items);
  ASSERT_EQ(worker.acks.lost().size(), 1u);
  EXPECT_EQ(worker.acks.lost().front().path, item(0));
  EXPECT_EQ(left(), 9u);
}

TEST_F(ConsumerTest, ConfirmDropsWhatIsNotOursAnyMore) {
  Worker worker(server_ + chroot_);
  const auto items = worker.take(3);
  observer_.remove(claim_of(item(1)));
  const auto kept = worker.consumer.confirm(items);
  EXPECT_EQ(texts(kept), (Texts{"0", "2"}));
  EXPECT_GT(kept.front().proved, items.front().proved);
}

TEST_F(ConsumerTest, AfterTheSessionsEndNothingOfItIsRemoved) {
  Worker worker(through_proxy_, 500ms);
  const auto items = worker.take(2);
  proxy_.set(FaultProxy::Mode::silent);
  ASSERT_TRUE(test::eventually(worker.loop, [&] { return observer_.children(item(0)).empty(); }));
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_THROW(worker.remove(items), zk::SessionOver);
  worker.acks.end_session({});
  EXPECT_EQ(worker.acks.doubtful().size(), 2u);
  worker.session.open();
  // Another client has taken and ended it meanwhile.
  observer_.remove(item(0));
  worker.acks.look_again();
  ASSERT_EQ(worker.acks.lost().size(), 1u);
  EXPECT_EQ(worker.acks.lost().front().path, item(1));
  ASSERT_EQ(worker.acks.doubtful().size(), 1u);
  EXPECT_EQ(worker.acks.doubtful().front().path, item(0));
}

TEST_F(ConsumerTest, ARemovalThatIsNotAnsweredInTimeIsDoubtful) {
  for (const size_t most : {1u, 3u}) {
    Worker worker(through_proxy_);
    const auto items = worker.take(most);
    proxy_.set(FaultProxy::Mode::lose_answers);
    worker.acks.settle(items, deadline_in(300ms));
    EXPECT_EQ(worker.acks.doubtful().size(), most);
    proxy_.set(FaultProxy::Mode::pass);
  }
}

TEST_F(ConsumerTest, OfSeveralTheOnesWithAClaimAreRemovedInTheEndAndTheOthersDoubtful) {
  Worker worker(server_ + chroot_);
  const auto items = worker.take(3);
  observer_.remove(claim_of(item(1)));
  worker.acks.settle(items, deadline_in(20s));
  EXPECT_EQ(left(), 8u);
  ASSERT_EQ(worker.acks.doubtful().size(), 1u);
  EXPECT_EQ(worker.acks.doubtful().front().path, item(1));
}

TEST_F(ConsumerTest, ASegmentThatIsSealedAndEmptyIsDeleted) {
  observer_.create("/q/items/050-0000000000");
  observer_.create("/q/items/050-0000000001");
  observer_.write("/q/items/050-0000000000", "");
  Worker worker(server_ + chroot_);
  EXPECT_EQ(texts(worker.take(1)), (Texts{"0"}));
  EXPECT_EQ(observer_.children("/q/items").size(), 2u);
}

TEST_F(ConsumerTest, AFailedAttemptCountsAndAnUntouchedOneDoesNot) {
  Worker worker(server_ + chroot_);
  for (const int attempts : {1, 2}) {
    const auto items = worker.take(1);
    ASSERT_EQ(texts(items), (Texts{"0"}));
    EXPECT_EQ(items.front().attempts, attempts);
    worker.ack_one(Ack::release, items.front());
    const auto again = worker.take(1);
    EXPECT_EQ(again.front().attempts, attempts);
    worker.ack_one(Ack::retry, again.front());
  }
}

TEST_F(ConsumerTest, AnItemIsBuriedWithItsTextAndTheReason) {
  observer_.create("/q/dead");
  Worker worker(server_ + chroot_);
  for (const int number : {0, 1})
    worker.ack_one(Ack::dead_letter, worker.take(1).front(), fmt::format("why {}", number));
  EXPECT_EQ(left(), 8u);
  const std::string dead = "/q/dead/100-0000000000/token-0000000001";
  EXPECT_EQ(observer_.read(dead).data, "1");
  EXPECT_EQ(observer_.read(why_of(dead)).data, "why 1");
  EXPECT_TRUE(worker.acks.lost().empty());
}

TEST_F(ConsumerTest, AnAckWhoseAnswerIsLostIsFoundOut) {
  observer_.create("/q/dead");
  observer_.create("/q/dead/100-0000000000");
  Worker worker(through_proxy_);
  int lost = 0;
  for (const Ack ack : {Ack::dead_letter, Ack::retry, Ack::release}) {
    const auto items = worker.take(1);
    proxy_.lose_next_answer();
    worker.ack_one(ack, items.front());
    EXPECT_EQ(proxy_.lost(), ++lost);
    EXPECT_TRUE(worker.acks.lost().empty());
  }
  EXPECT_EQ(left(), 9u);
  // One failure counts; the untouched attempt does not.
  EXPECT_EQ(worker.take(1).front().attempts, 2);
}

// It is the claim's czxid: a resource compares it to refuse latecomers.
TEST_F(ConsumerTest, TheTokenOfAClaimIsItsCreation) {
  Worker worker(server_ + chroot_);
  const Item first = worker.take(1).front();
  EXPECT_EQ(first.token, observer_.read(claim_of(first.path)).stat.created);
  worker.ack_one(Ack::retry, first);
  EXPECT_GT(worker.take(1).front().token, first.token);
}

TEST_F(ConsumerTest, ASingleClaimGoesWithItsSession) {
  EXPECT_EQ(texts(Worker(here_).take(1)), (Texts{"0"}));
  EXPECT_EQ(texts(Worker(here_).take(1)), (Texts{"0"}));
}

TEST_F(ConsumerTest, AnItemOfAHigherPriorityIsNotOverlookedForLong) {
  Worker worker(here_);
  worker.remove(worker.take(1));
  observer_.create("/q/items/050-0000000000/token-0000000000", "urgent");
  std::this_thread::sleep_for(150ms);  // a bit longer than a list counts
  EXPECT_EQ(texts(worker.take(1)), (Texts{"urgent"}));
}

TEST_F(ConsumerTest, AnItemThatCameBehindTheListIsFound) {
  Worker worker(here_);
  EXPECT_EQ(worker.take(10).size(), 10u);
  observer_.create(item(10), "10");
  EXPECT_EQ(texts(worker.take(1)), (Texts{"10"}));
}

TEST_F(ConsumerTest, WhatIsOursIsNotFoundAgain) {
  Worker worker(here_);
  EXPECT_EQ(worker.take(10).size(), 10u);
  EXPECT_TRUE(worker.take(1).empty());
  EXPECT_FALSE(worker.consumer.some_in_work());
}

TEST_F(ConsumerTest, WhatASessionHadThatIsOverIsFoundAgain) {
  Worker worker(through_proxy_, 500ms);
  EXPECT_EQ(texts(worker.take(2)), (Texts{"0", "1"}));
  let_expire(worker);
  EXPECT_TRUE(test::eventually(worker.loop, [&] { return worker.session.expired(); }));
  worker.session.open();
  worker.consumer.forget_all();
  EXPECT_EQ(texts(worker.take(2)), (Texts{"0", "1"}));
}

// Waiting consumers leave their line by such a step.
TEST_F(ConsumerTest, AClaimWithAnotherStepThatNeverArrivesIsNotMadeWithoutIt) {
  observer_.create("/q/place");
  Worker worker(through_proxy_);
  worker.take(1);
  send_in_vain([&] { ASSERT_TRUE(worker.consumer.begin(1, {{zk::Step::Kind::remove, "/q/place"}})); });
  EXPECT_TRUE(worker.consumer.collect().empty());
  EXPECT_EQ(observer_.read("/q/place").code, zk::Code::ok);
  EXPECT_EQ(observer_.read(claim(1)).code, zk::Code::no_node);
}

TEST_F(ConsumerTest, WhatIsClaimedInAnyCaseIsKnownBehindABarrierOnly) {
  Worker worker(here_);
  const auto items = worker.take(2);
  observer_.remove(claim(0));
  observer_.create(claim(0));
  const uint64_t before = worker.session.client().answers();
  EXPECT_EQ(worker.consumer.holds(paths_of(items)), (std::vector<bool>{false, true}));
  EXPECT_EQ(worker.session.client().answers() - before, 3u);
}

TEST_F(ConsumerTest, AConfirmationWhoseAnswerIsLostIsAskedForAgain) {
  Worker worker(through_proxy_);
  const auto items = worker.take(2);
  proxy_.lose_next_answer();
  const auto kept = worker.consumer.confirm(items);
  EXPECT_EQ(proxy_.lost(), 1);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_GT(kept.front().proved, items.front().proved);
}

TEST_F(ConsumerTest, ALateConfirmationProvesNoMoreThanWhenItWasAskedFor) {
  Worker worker(through_proxy_);
  const auto items = worker.take(2);
  proxy_.set(FaultProxy::Mode::silent);
  std::this_thread::sleep_for(10ms);  // until it is silent
  Deadline answered = kNever;
  const Deadline late = deadline_in(150ms);
  const Script script(worker.loop, [&] {
    if (answered != kNever || left_until(late) > Duration::zero()) return;
    answered = BootClock::now();
    proxy_.set(FaultProxy::Mode::pass);
  });
  const auto kept = worker.consumer.confirm(items);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_LT(kept.front().proved, answered);
}

TEST_F(ConsumerTest, NothingIsConfirmedOfASessionThatIsOver) {
  Worker worker(through_proxy_, 500ms);
  const auto items = worker.take(2);
  let_expire(worker);
  EXPECT_THROW(worker.consumer.confirm(items), zk::SessionOver);
}

TEST_F(ConsumerTest, WhatWasLostToOthersIsToBeHadAgain) {
  Worker worker(here_);
  const auto items = worker.take(3);
  observer_.remove(claim(1));
  EXPECT_EQ(worker.consumer.confirm(items).size(), 2u);
  Texts others = texts(worker.take(7));
  std::ranges::copy(texts(worker.take(1)), std::back_inserter(others));
  std::ranges::sort(others);
  EXPECT_EQ(others, (Texts{"1", "3", "4", "5", "6", "7", "8", "9"}));
}

TEST_F(ConsumerTest, ClaimsThatWereRefusedAreNotSettled) {
  Worker a(here_), b(here_);
  a.take(1);
  ASSERT_TRUE(b.consumer.begin(3));
  EXPECT_TRUE(b.consumer.settle(deadline_in(20s)).empty());
}

TEST_F(ConsumerTest, WhoIsAloneAgainKeepsTheOrder) {
  Worker worker(here_);
  worker.take(1);
  observer_.create(claim(1));  // between the look at it and the claim
  EXPECT_TRUE(worker.take(1).empty());
  for (int batch = 0; batch < 20; ++batch) {
    worker.give_back(worker.take(1));
    worker.consumer.forget_all();
  }
  for (int i = 0; i < 4; ++i) {
    std::this_thread::sleep_for(1100ms);  // until it lists them again, however long the last list took
    const auto items = worker.take(1);
    EXPECT_EQ(texts(items), (Texts{"2"}));
    worker.give_back(items);
  }
}

// If the first is taken, it knows which of the next ones is free.
TEST_F(ConsumerTest, ASingleItemIsClaimedWhileTheNextOnesAreLookedAt) {
  Worker other(here_), worker(through_proxy_, 60s);
  EXPECT_EQ(texts(other.take(2)), (Texts{"0", "1"}));
  EXPECT_TRUE(worker.take(1).empty());
  EXPECT_EQ(proxy_.requests(test::opcode::kExists), 3);
  EXPECT_EQ(texts(worker.take(1)), (Texts{"2"}));
  EXPECT_EQ(proxy_.requests(test::opcode::kExists), 3);
}

TEST_F(ConsumerTest, TheNextOnesThatAreLookedAtAreClaimedBeforeThoseBehindThem) {
  Worker worker(here_, 60s);
  ASSERT_TRUE(worker.consumer.begin(1));
  EXPECT_FALSE(worker.consumer.begin(1));
  EXPECT_FALSE(worker.consumer.is_answered());
  EXPECT_TRUE(test::eventually(worker.loop, [&] { return worker.consumer.is_answered(); }));
  EXPECT_EQ(texts(worker.consumer.collect()), (Texts{"0"}));
  EXPECT_FALSE(worker.consumer.is_answered());
  EXPECT_EQ(texts(worker.take(2)), (Texts{"1", "2"}));
}

TEST_F(ConsumerTest, LooksBehindAClaimThatAreLostAreRepeated) {
  Worker other(here_), worker(through_proxy_);
  EXPECT_EQ(texts(other.take(1)), (Texts{"0"}));
  proxy_.lose_answer_to(test::opcode::kExists);
  EXPECT_TRUE(worker.take(1).empty());
  EXPECT_EQ(texts(worker.take(1)), (Texts{"1"}));
  EXPECT_EQ(proxy_.accepted(), 2);
}

// No claim is in vain but the first.
TEST_F(ConsumerTest, WhoHasSeenOthersAtTheHeadLooksBeforeItClaims) {
  Worker other(here_), worker(here_);
  EXPECT_EQ(texts(other.take(2)), (Texts{"0", "1"}));
  EXPECT_TRUE(worker.take(1).empty());
  for (int i = 0; i < 20; ++i) {
    const auto items = worker.take(1);
    EXPECT_EQ(texts(items), (Texts{"2"})) << i;
    worker.give_back(items);
    worker.consumer.forget_all();
  }
}

TEST_F(ConsumerTest, NobodyWaitsForAListBehindAClaim) {
  Worker worker(here_, 60s);
  ASSERT_TRUE(worker.consumer.begin(2));
  std::this_thread::sleep_for(2100ms);  // until the list is too old, however long it took
  EXPECT_FALSE(worker.consumer.begin(2));
  EXPECT_EQ(texts(worker.consumer.collect()), (Texts{"0", "1"}));
  EXPECT_EQ(texts(worker.take(2)), (Texts{"2", "3"}));
}

// The next list is asked for before the first items are removed, and used after that.
TEST_F(ConsumerTest, WhatIsRemovedWhileAListIsOnItsWayIsNotClaimedAgain) {
  Worker worker(here_, 60s);
  const auto items = worker.take(2);
  ASSERT_TRUE(worker.consumer.begin(2));
  std::this_thread::sleep_for(2100ms);  // until the list is too old, however long it took
  EXPECT_FALSE(worker.consumer.begin(2));
  worker.remove(items);
  EXPECT_EQ(texts(worker.consumer.collect()), (Texts{"2", "3"}));
  EXPECT_EQ(texts(worker.take(6)), (Texts{"4", "5", "6", "7", "8", "9"}));
  EXPECT_TRUE(worker.consumer.is_alone());
}

// A backup was restored.
TEST_F(ConsumerTest, ClaimsThatAreInNoSessionKeepNobodyFromTheItems) {
  for (int i = 0; i < 10; ++i) observer_.create(claim_of(item(i)), "left");
  Worker a(server_ + chroot_), b(server_ + chroot_);
  std::set<std::string> taken;
  for (const Deadline end = deadline_in(20s); taken.size() < 10 && BootClock::now() < end;) {
    for (Worker* worker : {&a, &b}) {
      for (const Item& one : worker->take(3)) EXPECT_TRUE(taken.insert(one.data).second) << one.data;
    }
  }
  EXPECT_EQ(taken.size(), 10u);
}

TEST_F(ConsumerTest, AnItemWithANodeBelowItThatIsNoClaimIsLeftAlone) {
  observer_.create(item(0) + "/note");
  Worker worker(server_ + chroot_);
  std::set<std::string> taken;
  for (int round = 0; round < 20; ++round) {
    for (const Item& one : worker.take(3)) taken.insert(one.data);
  }
  EXPECT_EQ(taken.size(), 9u);
  EXPECT_FALSE(taken.contains("0"));
  EXPECT_TRUE(worker.take(1).empty());
  EXPECT_FALSE(worker.consumer.some_in_work());
}

TEST_F(ConsumerTest, AClaimThatIsMadeWhileALeftOneIsRemovedStays) {
  for (int i = 1; i < 10; ++i) observer_.remove(item(i));
  observer_.create(claim(0), "left");
  Worker worker(through_proxy_);
  bool made = false;
  const Script script(worker.loop, [&] {
    if (!proxy_.is_silent() || std::exchange(made, true)) return;
    observer_.remove(claim(0));
    zk::Session& other = observer_.session();
    other.await(other.client().create(claim(0), "", zk::CreateMode::ephemeral));
    proxy_.set(FaultProxy::Mode::pass);
  });
  proxy_.fall_silent_after(test::opcode::kWrite);
  EXPECT_TRUE(worker.take(1).empty());  // it tries to claim the item
  EXPECT_TRUE(worker.take(1).empty());  // it looks at the claim
  EXPECT_TRUE(made);
  EXPECT_EQ(observer_.read(claim(0)).stat.ephemeral_owner, observer_.session().id());
}

// The more often others were faster, the fewer it claims at once, but never none.
TEST_F(ConsumerTest, AmongManyOthersItStillClaimsOne) {
  Worker worker(here_);
  zk::Session& others = observer_.session();
  const auto take_one = [&] {
    std::vector<Item> items;
    for (int i = 0; items.empty() && i < 20; ++i) items = worker.take(1);
    return items;
  };
  for (int lost = 0, round = 0; lost < 12; ++round) {
    ASSERT_LT(round, 100);
    const auto items = take_one();  // it has also looked at others
    ASSERT_EQ(items.size(), 1u) << "after " << lost;
    std::vector<zk::Call> made;
    for (int i = 0; i < 10; ++i) made.push_back(others.client().create(claim(i), "", zk::CreateMode::ephemeral));
    std::vector<std::string> theirs;
    for (int i = 0; i < 10; ++i) {
      if (others.await(made[static_cast<size_t>(i)]).code == zk::Code::ok) theirs.push_back(claim(i));
    }
    for (; worker.consumer.begin(1); ++lost) EXPECT_TRUE(worker.consumer.collect().empty());
    for (const std::string& path : theirs) observer_.remove(path);
    worker.give_back(items);
  }
  EXPECT_EQ(take_one().size(), 1u);
}

TEST_F(ConsumerTest, WhatWasInWorkInTheLastSessionIsLookedAtInTheNext) {
  Worker other(here_);
  Worker worker(here_);
  worker.consumer.remember_work();
  other.take(10);
  EXPECT_TRUE(worker.take(1).empty());
  // An idle consumer watches them. No watch fires when its session is over.
  InWork& in_work = worker.consumer.in_work();
  for (const std::string& path : in_work.unwatched()) in_work.note(path, std::make_shared<zk::WatchState>());
  other.session.close();
  worker.session.close();
  worker.session.open();
  worker.consumer.forget_all();
  EXPECT_EQ(worker.take(1).size(), 1u);
}

}  // namespace consumer_test
}  // namespace zklock::recipe
