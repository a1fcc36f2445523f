// SPDX-License-Identifier: Apache-2.0
// How claims are ended while answers are lost, connections break and sessions expire, against a real server.
#include "recipe/queue/ack.h"

#include "support/queue_worker.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace ack_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;
using test::texts;
using Texts = std::vector<std::string>;
using Worker = test::QueueWorker;

class AckTest : public test::QueueOfTen {
 protected:
  static Deadline soon() { return deadline_in(20s); }
};

TEST_F(AckTest, ARemovalThatNeverArrivesIsSentAgain) {
  for (const size_t most : {1u, 3u}) {
    Worker worker(through_proxy_);
    const auto items = worker.take(most);
    send_in_vain([&] { worker.acks.remove(items); });
    worker.acks.finish();
    EXPECT_TRUE(worker.acks.lost().empty() && worker.acks.doubtful().empty());
  }
  EXPECT_EQ(left(), 6u);
}

TEST_F(AckTest, ARemovalThatIsNotAnsweredBeforeTheSessionsEndIsDoubtful) {
  Worker worker(through_proxy_, 500ms);
  const auto items = worker.take(2);
  proxy_.set(FaultProxy::Mode::silent);
  std::this_thread::sleep_for(10ms);  // until it is silent
  worker.acks.remove(items);
  let_expire(worker);
  EXPECT_THROW(worker.acks.finish(), zk::SessionOver);
  worker.acks.end_session({});
  EXPECT_EQ(worker.acks.doubtful().size(), 2u);
}

TEST_F(AckTest, WhatWasToGoBackHasGoneBackWithTheSession) {
  Worker worker(through_proxy_, 500ms);
  const auto items = worker.take(2);
  let_expire(worker);
  EXPECT_THROW(worker.acks.send(Ack::retry, items.front(), ""), zk::SessionOver);
  worker.acks.send(Ack::retry, items.back(), "");
  worker.acks.end_session({});
  EXPECT_TRUE(worker.acks.doubtful().empty());
}

TEST_F(AckTest, TheLastRemovalIsDoneThoughItsAnswerIsLost) {
  for (const size_t most : {1u, 3u}) {
    Worker worker(through_proxy_);
    const auto items = worker.take(most);
    proxy_.lose_next_answer();
    worker.acks.settle(items, soon());
    EXPECT_TRUE(worker.acks.doubtful().empty());
  }
  EXPECT_EQ(proxy_.lost(), 2);
  EXPECT_EQ(left(), 6u);
}

TEST_F(AckTest, TheLastRemovalIsDoneThoughItDoesNotArriveAtFirst) {
  Worker worker(through_proxy_);
  const auto items = worker.take(2);
  proxy_.set(FaultProxy::Mode::silent);
  std::this_thread::sleep_for(10ms);  // until it is silent
  bool cut = false;
  const Script script(worker.loop, [&] {
    if (std::exchange(cut, true)) return;
    proxy_.cut();
    proxy_.set(FaultProxy::Mode::pass);
  });
  worker.acks.settle(items, soon());
  EXPECT_TRUE(worker.acks.doubtful().empty());
  EXPECT_EQ(left(), 8u);
}

TEST_F(AckTest, ALastRemovalWithoutAClaimIsDoubtful) {
  Worker worker(here_);
  const auto items = worker.take(1);
  observer_.remove(claim(0));
  worker.acks.settle(items, soon());
  EXPECT_EQ(worker.acks.doubtful().size(), 1u);
  EXPECT_EQ(left(), 10u);
}

// The item may have gone back, and another client may have it.
TEST_F(AckTest, WhatGoesBackInTheEndIsNotTakenFromWhoHasItNow) {
  Worker worker(through_proxy_), other(here_);
  const auto items = worker.take(1);
  proxy_.lose_next_answer();
  worker.acks.send(Ack::release, items.front(), "");
  ASSERT_TRUE(test::eventually(other.loop, [&] { return observer_.read(claim(0)).code == zk::Code::no_node; }));
  EXPECT_EQ(texts(other.take(1)), (Texts{"0"}));
  worker.acks.settle({}, soon());
  EXPECT_EQ(observer_.read(claim(0)).code, zk::Code::ok);
  EXPECT_TRUE(worker.acks.doubtful().empty());
}

TEST_F(AckTest, ClaimsOfASessionThatIsOverAreLeftAlone) {
  Worker worker(through_proxy_, 500ms), other(here_);
  const auto items = worker.take(2);
  let_expire(worker);
  ASSERT_TRUE(test::eventually(worker.loop, [&] { return worker.session.expired(); }));
  worker.session.open();
  EXPECT_EQ(texts(other.take(2)), (Texts{"0", "1"}));
  worker.acks.release(items, soon());
  worker.acks.settle(items, soon());
  EXPECT_EQ(worker.acks.doubtful().size(), 2u);
  EXPECT_EQ(other.consumer.holds(paths_of(items)), (std::vector<bool>{true, true}));
}

TEST_F(AckTest, ANodeThatSomebodyHasPutBelowAnItemIsNamed) {
  Worker worker(server_ + chroot_);
  const auto items = worker.take(3);
  observer_.create(items[1].path + "/note");
  try {
    worker.remove(items);
    worker.acks.finish();
    ADD_FAILURE() << "it was removed";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_data);
    EXPECT_NE(failure.text().find(items[1].path + "/note is not zklock's"), std::string::npos) << failure.text();
  }
}

TEST_F(AckTest, ANodeBelowOneItemKeepsNoOtherFromBeingRemoved) {
  for (const bool last : {false, true}) {
    Worker worker(server_ + chroot_);
    const auto items = worker.take(3);
    observer_.create(items[1].path + "/note");
    if (!last) {
      EXPECT_THROW(worker.remove(items), Failure);
    }
    worker.acks.settle(last ? items : std::vector<Item>(), soon());
    EXPECT_TRUE(worker.acks.is_blocked());
    EXPECT_EQ(paths_of(worker.acks.lost()), (Texts{items[1].path}));
    EXPECT_TRUE(worker.acks.doubtful().empty());
    EXPECT_EQ(observer_.read(items[0].path).code, zk::Code::no_node);
    EXPECT_EQ(observer_.read(items[2].path).code, zk::Code::no_node);
    observer_.remove(items[1].path + "/note");
  }
}

// Four are sent one by one, as they come.
TEST_F(AckTest, RemovalsBehindOthersAreMerged) {
  Worker worker(through_proxy_);
  const auto items = worker.take(10);
  const int before = proxy_.requests(test::opcode::kTransaction);
  for (const Item& item : items) worker.acks.remove({item});
  EXPECT_FALSE(worker.acks.finished());
  worker.acks.finish();
  EXPECT_TRUE(worker.acks.finished());
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), before + 5);
  EXPECT_EQ(left(), 0u);
}

TEST_F(AckTest, RemovalsThatWereKeptAreDoneInTheEndOrDoubtful) {
  for (const bool lives : {true, false}) {
    Worker worker(here_);
    const auto items = worker.take(5);
    for (const Item& item : items) worker.acks.remove({item});
    lives ? worker.acks.settle({}, soon()) : worker.acks.end_session({});
    EXPECT_EQ(worker.acks.doubtful().size(), lives ? 0u : 5u);
    if (lives) {
      EXPECT_EQ(left(), 5u);
    }
  }
}

// No request was sent for it.
TEST_F(AckTest, WhatIsDoneWhenTheSessionEndsIsDoubtful) {
  Worker worker(here_);
  const auto items = worker.take(2);
  worker.acks.end_session(items);
  EXPECT_EQ(paths_of(worker.acks.doubtful()), paths_of(items));
}

}  // namespace ack_test
}  // namespace zklock::recipe
