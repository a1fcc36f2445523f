// SPDX-License-Identifier: Apache-2.0
// recipe/queue/awaited, and a pusher with it, against a real server: answers are lost, and sessions expire.
#include "recipe/queue/awaited.h"

#include "support/awaited_pusher.h"

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace awaited_test {

using namespace std::chrono_literals;
using test::Ends;
using test::FaultProxy;
using test::Script;
using test::opcode::kTransaction;
using Client = test::AwaitedClient;
using Pusher = test::AwaitedPusher;
using Texts = std::vector<std::string>;

class AwaitedTest : public test::AwaitedQueue {
 protected:
  static Texts numbers(int last) {
    Texts texts;
    for (int i = 1; i <= last; ++i) texts.push_back(std::to_string(i));
    return texts;
  }
  // Its nodes are there once, and show that it lives.
  void expect_made(const Client& client) {
    EXPECT_EQ(observer_.children("/q/awaited"), Texts{client.push.token()});
    EXPECT_EQ(observer_.children(client.push.path()).size(), 4u);
    EXPECT_EQ(owner_of(client.push.path()), 0);
    EXPECT_EQ(owner_of(client.marker()), client.session.id());
    EXPECT_EQ(ends_of(client), Ends());
  }
  void expect_gone(const std::function<void()>& act, const Client& client) {
    try {
      act();
      ADD_FAILURE() << "it went on";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::bad_data);
      EXPECT_EQ(failure.text(),
                fmt::format("cannot push to /q: {} was deleted, so it cannot be known how its items end",
                            client.push.path()));
    }
  }
  void count(const Client& client, Count count, int times = 1) {
    for (int i = 0; i < times; ++i) observer_.write(counter_of(client.push.path(), count), "");
  }
  bool is_gone(Client& client) {
    return test::eventually(client.loop, [&] { return !exists(client.push.path()); });
  }
  // Waits until its session is over.
  void expire(Client& client) {
    proxy_.set(FaultProxy::Mode::silent);
    const Deadline back = deadline_in(3 * client.session.timeout());
    while (BootClock::now() < back) client.loop.turn(back);
    proxy_.set(FaultProxy::Mode::pass);
  }
  void expect_each_once(Pusher& pusher, int last) {
    EXPECT_EQ(texts(), numbers(last));
    EXPECT_EQ(pusher.pusher.in(), last);
    EXPECT_TRUE(pusher.pusher.doubles().empty());
    EXPECT_EQ(observer_.read(pusher.push.path()).data, std::to_string(last));
    EXPECT_EQ(observer_.children("/q/pushing"), Texts{pusher.push.token()});
    EXPECT_EQ(owner_of(pusher.marker()), pusher.session.id());
  }
};

TEST_F(AwaitedTest, TheFirstPushThatIsAwaitedMarksTheQueue) {
  make_queue();
  Client first(here_), second(here_);
  first.make();
  expect_made(first);
  EXPECT_EQ(observer_.read("/q").data, kTaggedQueue);
  second.make();
  EXPECT_EQ(observer_.children("/q/awaited").size(), 2u);
  EXPECT_EQ(observer_.read("/q").stat.version, 1);
}

TEST_F(AwaitedTest, AQueueThatItMakesItselfIsMarkedToo) {
  const Pusher pusher(here_);
  expect_made(pusher);
  EXPECT_EQ(observer_.read("/q").data, kTaggedQueue);
}

TEST_F(AwaitedTest, OfTwoThatMarkTheQueueAtOnceOneIsFaster) {
  make_queue();
  Client faster(here_), slower(here_);
  slower.session.open();
  const FoundQueue unmarked = slower.found();
  faster.make();
  slower.push.make(unmarked);
  EXPECT_EQ(observer_.children("/q/awaited").size(), 2u);
  EXPECT_EQ(observer_.read("/q").stat.version, 1);
}

TEST_F(AwaitedTest, AQueueThatIsBeingDeletedTakesNoPush) {
  make_queue();
  Client client(here_);
  client.session.open();
  const FoundQueue before = client.found();
  observer_.write("/q", std::string(kLeavingQueue));
  EXPECT_THROW(client.push.make(before), Failure);
  EXPECT_THROW(Pusher{here_}, Failure);
  EXPECT_EQ(observer_.read("/q").data, kLeavingQueue);
  EXPECT_TRUE(observer_.children("/q/awaited").empty());
}

TEST_F(AwaitedTest, NodesWhoseMakingIsNotAnsweredAreFound) {
  make_queue();
  Client client(through_proxy_);
  client.session.open();
  const FoundQueue found = client.found();
  proxy_.lose_answer_to(kTransaction);
  client.push.make(found);
  EXPECT_EQ(proxy_.lost(), 1);
  expect_made(client);
}

TEST_F(AwaitedTest, NodesWhoseMakingNeverArrivedAreMade) {
  make_queue();
  Client client(through_proxy_);
  client.session.open();
  const FoundQueue found = client.found();
  proxy_.break_before(kTransaction);
  bool refused = false;
  const Script script(client.loop, [&] {
    if (!proxy_.is_refusing()) return;
    refused = true;
    proxy_.accept_again();
  });
  client.push.make(found);
  EXPECT_TRUE(refused);
  expect_made(client);
}

TEST_F(AwaitedTest, MadeAgainInAnotherSessionTheNodesAreTheSame) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  change_session(client);
  client.push.make(client.found());
  expect_made(client);
}

// It is not known whether they were made when the next session begins.
TEST_F(AwaitedTest, NodesThatWereMadeJustBeforeTheSessionsEndAreFoundInTheNext) {
  make_queue();
  Client client(through_proxy_);
  proxy_.expire_resumed(true);
  proxy_.lose_answer_to(kTransaction);
  client.make();
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(proxy_.new_sessions(), 2);
  expect_made(client);
}

// The servers still know the session before.
TEST_F(AwaitedTest, RenewedInAnotherSessionThePusherIsSeenToLive) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  const int64_t before = client.session.id();
  ASSERT_EQ(owner_of(client.marker()), before);
  change_session(client);
  ASSERT_EQ(owner_of(client.marker()), before);
  client.push.renew();
  EXPECT_NE(client.session.id(), before);
  expect_made(client);
}

TEST_F(AwaitedTest, RenewedAfterTheSessionsEndThePusherIsSeenToLive) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  change_session(client);
  observer_.remove(client.marker());
  proxy_.lose_answer_to(kTransaction);
  client.push.renew();
  EXPECT_EQ(proxy_.lost(), 1);
  expect_made(client);
}

TEST_F(AwaitedTest, NodesThatAreDeletedAreNotMadeAgain) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  delete_nodes_of(client);
  expect_gone([&] { client.push.look(0); }, client);
  change_session(client);
  expect_gone([&] { client.push.renew(); }, client);
  EXPECT_TRUE(observer_.children("/q/awaited").empty());
}

TEST_F(AwaitedTest, OneCounterThatIsDeletedEndsThePush) {
  make_queue();
  Client client(here_);
  client.make();
  observer_.remove(counter_of(client.push.path(), Count::purged));
  expect_gone([&] { client.push.look(1); }, client);
}

TEST_F(AwaitedTest, ALookCountsTheEnds) {
  make_queue();
  Client client(here_);
  client.make();
  EXPECT_EQ(client.push.look(0).left(), 0);
  count(client, Count::done, 2);
  count(client, Count::dead, 5);
  count(client, Count::purged, 3);
  count(client, Count::back);
  const Tally tally = client.push.look(100);
  EXPECT_EQ(tally.items, 100);
  EXPECT_EQ(tally.done, 2);
  EXPECT_EQ(tally.dead, 4);
  EXPECT_EQ(tally.purged, 3);
  EXPECT_EQ(tally.left(), 91);
}

TEST_F(AwaitedTest, EachEndWakesIt) {
  make_queue();
  Client client(here_);
  client.make();
  EXPECT_TRUE(client.push.is_woken()) << "before the first look";
  for (const Count end : {Count::done, Count::dead, Count::purged}) {
    client.push.look(10);
    client.session.exists("/q");
    EXPECT_FALSE(client.push.is_woken());
    count(client, end);
    EXPECT_TRUE(test::eventually(client.loop, [&] { return client.push.is_woken(); }));
  }
}

TEST_F(AwaitedTest, AnEndWhileTheConnectionIsLostWakesIt) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  client.push.look(1);
  proxy_.cut(true);
  count(client, Count::done);
  proxy_.accept_again();
  EXPECT_TRUE(test::eventually(client.loop, [&] { return client.push.is_woken(); }));
}

TEST_F(AwaitedTest, ItLooksAgainInTheNextSession) {
  make_queue();
  Client client(through_proxy_);
  client.make();
  client.push.look(1);
  change_session(client);
  client.push.renew();
  EXPECT_TRUE(client.push.is_woken());
}

TEST_F(AwaitedTest, NodesOfAPushThatHasEndedAreRemoved) {
  make_queue();
  Client client(here_);
  client.make();
  for (const Count each : {Count::dead, Count::back, Count::done}) count(client, each);
  ASSERT_EQ(client.push.look(1).left(), 0);
  client.push.remove();
  EXPECT_TRUE(is_gone(client));
  EXPECT_FALSE(exists(client.marker()));
}

TEST_F(AwaitedTest, NodesStayIfALetterIsPutBackMeanwhile) {
  make_queue();
  Client client(here_);
  client.make();
  count(client, Count::dead);
  ASSERT_EQ(client.push.look(1).left(), 0);
  count(client, Count::back);
  client.push.remove();
  EXPECT_EQ(client.session.exists(client.push.path()).code, zk::Code::ok);
  EXPECT_EQ(ends_of(client), (Ends{.dead = 1, .back = 1}));
}

// All of these are young. A sweep does not even ask whether their pushers live.
TEST_F(AwaitedTest, ASweepLeavesWhatHasChangedOnThisDay) {
  make_queue();
  Client sweeper(through_proxy_);
  Client killed(here_);
  killed.make();
  killed.session.close();
  Pusher waits(here_);
  waits.push_up_to(1);
  observer_.create("/q/awaited/mine");
  sweeper.make();
  const int before = proxy_.requests(kTransaction);
  sweeper.push.sweep();
  EXPECT_EQ(sweeper.session.exists(killed.push.path()).code, zk::Code::ok);
  EXPECT_EQ(proxy_.requests(kTransaction), before);
  EXPECT_EQ(observer_.children("/q/awaited").size(), 4u);
}

TEST_F(AwaitedTest, EachBatchWritesHowManyItemsAreIn) {
  Pusher pusher(here_);
  pusher.push_up_to(1500);
  pusher.push_up_to(1501);
  expect_each_once(pusher, 1501);
  EXPECT_EQ(observer_.children("/q/items").size(), 2u);
  for (const std::string& item : items()) ASSERT_EQ(push_of(item), pusher.push.token()) << item;
}

TEST_F(AwaitedTest, WhatOthersPushFillsASegmentToo) {
  Pusher a(here_), b(here_);
  a.push_up_to(600);
  b.push_up_to(600);
  b.push_up_to(601);
  EXPECT_TRUE(is_sealed(observer_.read("/q/items/100-0000000000").stat));
  a.push_up_to(601);
  const std::vector<std::string> all = items();
  ASSERT_EQ(all.size(), 1202u);
  EXPECT_EQ(push_of(all[599]), a.push.token());
  EXPECT_EQ(push_of(all[600]), b.push.token());
  EXPECT_EQ(push_of(all[1200]), b.push.token());
  EXPECT_EQ(push_of(all[1201]), a.push.token());
}

TEST_F(AwaitedTest, BatchesWhoseAnswersAreLostAreFoundByTheMarker) {
  Pusher pusher(through_proxy_);
  pusher.push_up_to(10);
  for (const int last : {20, 30, 2030}) {
    proxy_.lose_answer_to(kTransaction);
    pusher.push_up_to(last);
  }
  EXPECT_EQ(proxy_.lost(), 3);
  expect_each_once(pusher, 2030);
}

// The batches have arrived, or none has.
TEST_F(AwaitedTest, AfterAnExpiryEachItemIsThereOnce) {
  Pusher pusher(through_proxy_, 500ms);
  pusher.push_up_to(10);
  proxy_.set(FaultProxy::Mode::lose_answers);
  pusher.feed(1020);
  ASSERT_TRUE(test::eventually(pusher.loop, [&] { return items().size() == 1020; }));
  expire(pusher);
  pusher.push_up_to(1030);
  expect_each_once(pusher, 1030);
  proxy_.set(FaultProxy::Mode::silent);
  std::this_thread::sleep_for(10ms);  // until it is silent
  pusher.feed(2040);
  expire(pusher);
  pusher.push_up_to(2050);
  expect_each_once(pusher, 2050);
}

TEST_F(AwaitedTest, AnExpiryWhileTheNextSessionRenewsLosesNothing) {
  Pusher pusher(through_proxy_);
  pusher.push_up_to(10);
  const int sessions = proxy_.new_sessions();
  proxy_.lose_answer_to(kTransaction);
  proxy_.expire_resumed(true);
  bool again = false;
  const Script script(pusher.loop, [&] {
    if (proxy_.lost() == 0 || proxy_.new_sessions() == sessions || std::exchange(again, true)) return;
    proxy_.lose_answer_to(kTransaction);
  });
  pusher.push_up_to(20);
  EXPECT_TRUE(again);
  EXPECT_GT(proxy_.new_sessions(), sessions);
  expect_each_once(pusher, 20);
}

TEST_F(AwaitedTest, NodesThatAreDeletedEndThePushing) {
  Pusher pusher(here_);
  pusher.push_up_to(10);
  delete_nodes_of(pusher);
  EXPECT_THROW(pusher.push_up_to(20), Failure);
  EXPECT_EQ(texts(), numbers(10));
}

}  // namespace awaited_test
}  // namespace zklock::recipe
