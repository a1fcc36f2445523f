// SPDX-License-Identifier: Apache-2.0
// Acks, purge and requeue count the ends of awaited items, against a real server: answers are lost, and a push's nodes
// are gone. A queue with awaited pushes is deleted.
#include "recipe/queue/ack.h"
#include "recipe/queue/awaited.h"
#include "recipe/queue/upkeep.h"
#include "support/awaited_pusher.h"
#include "support/queue_worker.h"
#include "zk/path.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace awaited_ends_test {

using namespace std::chrono_literals;
using test::Ends;
using test::Script;
using test::opcode::kExists;
using test::opcode::kRemove;
using test::opcode::kTransaction;
using Pusher = test::AwaitedPusher;
using Texts = std::vector<std::string>;

// Heartbeats of a long session do not disturb tests that count requests.
struct Worker : test::QueueWorker {
  explicit Worker(const std::string& servers) : QueueWorker(servers, 60s) {}
};

class AwaitedEndsTest : public test::AwaitedQueue {
 protected:
  const QueueLayout layout_{"/q"};
  static Deadline soon() { return deadline_in(20s); }

  void bury_one() {
    Worker worker(here_);
    const auto taken = worker.take(1);
    ASSERT_EQ(taken.size(), 1u);
    worker.ack_one(Ack::dead_letter, taken.front(), "why");
  }
  // Ends these items as `ack` says; with `last`, as a worker does that cleans up.
  void end(Worker& worker, Ack ack, const std::vector<Item>& items, bool last) {
    if (ack == Ack::done && last) return worker.acks.settle(items, soon());
    if (ack == Ack::done) return worker.remove(items);
    for (const Item& item : items) worker.acks.send(ack, item, "why");
    last ? worker.acks.settle({}, soon()) : worker.acks.finish();
  }
  static void expect_no_doubt(const Worker& worker) {
    EXPECT_TRUE(worker.acks.finished());
    EXPECT_TRUE(worker.acks.lost().empty());
    EXPECT_TRUE(worker.acks.doubtful().empty());
  }

  // At first, the segment has no dead letters, so its node among them is missing too. Then it is there.
  void expect_deaths_without_nodes(bool last) {
    for (const size_t already : {0u, 1u}) {
      Pusher pusher(here_);
      pusher.push_up_to(1);
      Worker worker(here_);
      const auto taken = worker.take(1);
      ASSERT_EQ(taken.size(), 1u);
      ASSERT_EQ(letters().size(), already);
      delete_nodes_of(pusher);
      end(worker, Ack::dead_letter, taken, last);
      expect_no_doubt(worker);
      EXPECT_TRUE(items().empty());
      ASSERT_EQ(letters().size(), already + 1);
      EXPECT_EQ(letters().back(), layout_.dead_of(taken.front().path));
    }
  }

  FoundQueue found_by(zk::Session& session) {
    return look_at_queue(session, layout_, {layout_.items(), layout_.dead()}, "cannot look");
  }
  Purged purge(zk::Session& session, bool dead = false) {
    Purged purged;
    purge_queue(session, layout_, found_by(session), dead, purged);
    return purged;
  }
  int64_t requeue_these(zk::Session& session, std::set<std::string> ids = {}) {
    int64_t moved = 0;
    requeue(session, layout_, found_by(session), ids, moved);
    return moved;
  }
  bool delete_all(zk::Session& session, const std::string& queue = "/q") {
    const QueueLayout layout{queue};
    const std::vector<std::string> folders{layout.items(), layout.dead(), layout.queue};
    return delete_queue(session, layout, look_at_queue_to_delete(session, layout, folders, "cannot look"));
  }
  // Makes a queue that once had awaited pushes, which have left their nodes.
  void make_left_queue(const std::string& queue) {
    make_queue(queue);
    observer_.write(queue, std::string(kTaggedQueue));
    for (const char* token : {"0123456789ab", "cdef01234567"}) {
      const std::string push = QueueLayout{queue}.awaited_push(token);
      for (const Count count : kCounts) observer_.create(counter_of(push, count));
    }
  }
};

// A session of its own through the failing proxy.
struct Client {
  explicit Client(const std::string& servers) : session(loop, test::options_for(servers, 60s)) { session.open(); }
  host::Loop loop;
  zk::Session session;
};

TEST_F(AwaitedEndsTest, EachOfSeveralItemsThatAreDoneTogetherCounts) {
  Pusher pusher(here_);
  pusher.push_up_to(3);
  Worker worker(through_proxy_);
  const auto taken = worker.take(3);
  ASSERT_EQ(taken.size(), 3u);
  const int before = proxy_.requests(kTransaction);
  worker.remove(taken);
  EXPECT_EQ(proxy_.requests(kTransaction), before + 1);
  EXPECT_EQ(ends_of(pusher), Ends{.done = 3});
  EXPECT_EQ(pusher.look().left(), 0);
}

TEST_F(AwaitedEndsTest, AnItemOfAnotherPushInTheSameTransactionCountsThere) {
  Pusher a(here_), b(here_);
  a.push_up_to(2);
  b.push_up_to(1);
  Worker worker(here_);
  worker.remove(worker.take(3));
  EXPECT_EQ(ends_of(a), Ends{.done = 2});
  EXPECT_EQ(ends_of(b), Ends{.done = 1});
}

TEST_F(AwaitedEndsTest, ADeadLetterCountsAndKeepsItsTag) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  const std::string item = items().front();
  bury_one();
  EXPECT_EQ(ends_of(pusher), Ends{.dead = 1});
  ASSERT_EQ(letters(), Texts{layout_.dead_of(item)});
  EXPECT_EQ(push_of(letters().front()), pusher.push.token());
  EXPECT_EQ(observer_.read(letters().front()).data, "1");
  EXPECT_EQ(observer_.read(why_of(letters().front())).data, "why");
  EXPECT_EQ(pusher.look().dead, 1);
  EXPECT_EQ(pusher.look().left(), 0);
}

TEST_F(AwaitedEndsTest, WhatGoesBackCountsNothing) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  const Texts before = items();
  Worker worker(here_);
  for (const Ack ack : {Ack::retry, Ack::release}) {
    const auto taken = worker.take(1);
    ASSERT_EQ(taken.size(), 1u);
    worker.ack_one(ack, taken.front());
  }
  worker.give_back(worker.take(1));
  EXPECT_EQ(ends_of(pusher), Ends());
  EXPECT_EQ(items(), before);
  EXPECT_EQ(pusher.look().left(), 1);
}

TEST_F(AwaitedEndsTest, AnAckWhoseAnswerIsLostCountsOnce) {
  for (const bool last : {false, true}) {
    Pusher pusher(here_);
    pusher.push_up_to(3);
    Worker worker(through_proxy_);
    const auto taken = worker.take(3);
    ASSERT_EQ(taken.size(), 3u);
    proxy_.lose_answer_to(kTransaction);
    end(worker, Ack::done, taken, last);
    expect_no_doubt(worker);
    EXPECT_EQ(ends_of(pusher), Ends{.done = 3});
  }
  EXPECT_EQ(proxy_.lost(), 2);
}

TEST_F(AwaitedEndsTest, AnAckThatNeverArrivesCountsOnce) {
  for (const bool last : {false, true}) {
    Pusher pusher(here_);
    pusher.push_up_to(3);
    Worker worker(through_proxy_);
    const auto taken = worker.take(3);
    ASSERT_EQ(taken.size(), 3u);
    proxy_.break_before(kTransaction);
    const Script script(worker.loop, [&] {
      if (proxy_.is_refusing()) proxy_.accept_again();
    });
    end(worker, Ack::done, taken, last);
    expect_no_doubt(worker);
    EXPECT_EQ(ends_of(pusher), Ends{.done = 3});
  }
}

TEST_F(AwaitedEndsTest, ADeathWhoseAnswerIsLostCountsOnce) {
  Pusher pusher(here_);
  pusher.push_up_to(2);
  bury_one();  // so the segment of the dead is there
  Worker worker(through_proxy_);
  const auto taken = worker.take(1);
  ASSERT_EQ(taken.size(), 1u);
  proxy_.lose_answer_to(kTransaction);
  end(worker, Ack::dead_letter, taken, false);
  EXPECT_EQ(proxy_.lost(), 1);
  expect_no_doubt(worker);
  EXPECT_EQ(ends_of(pusher), Ends{.dead = 2});
}

TEST_F(AwaitedEndsTest, ItemsAreDoneThoughTheNodesOfTheirPushAreDeleted) {
  for (const bool last : {false, true}) {
    for (const size_t most : {1u, 3u}) {
      Pusher pusher(here_);
      pusher.push_up_to(static_cast<int>(most));
      Worker worker(here_);
      const auto taken = worker.take(most);
      ASSERT_EQ(taken.size(), most);
      delete_nodes_of(pusher);
      end(worker, Ack::done, taken, last);
      expect_no_doubt(worker);
      EXPECT_TRUE(items().empty());
      EXPECT_FALSE(exists(pusher.push.path()));
    }
  }
}

// The first attempt did not arrive, so it proves nothing that the next one finds a node missing.
TEST_F(AwaitedEndsTest, ItemsAreDoneInTheEndThoughTheNodesOfTheirPushGoBetweenTwoAttempts) {
  for (const size_t most : {1u, 3u}) {
    Pusher pusher(here_);
    pusher.push_up_to(static_cast<int>(most));
    Worker worker(through_proxy_);
    const auto taken = worker.take(most);
    ASSERT_EQ(taken.size(), most);
    proxy_.break_before(kTransaction);
    const Script script(worker.loop, [&] {
      if (!proxy_.is_refusing()) return;
      delete_nodes_of(pusher);
      proxy_.accept_again();
    });
    end(worker, Ack::done, taken, true);
    expect_no_doubt(worker);
    EXPECT_TRUE(items().empty());
  }
}

TEST_F(AwaitedEndsTest, ItemsOfAPushThatIsGoneKeepNoOtherFromCounting) {
  for (const bool last : {false, true}) {
    Pusher gone(here_), there(here_);
    gone.push_up_to(1);
    there.push_up_to(2);
    Worker worker(here_);
    const auto taken = worker.take(3);
    ASSERT_EQ(taken.size(), 3u);
    delete_nodes_of(gone);
    end(worker, Ack::done, taken, last);
    expect_no_doubt(worker);
    EXPECT_TRUE(items().empty());
    EXPECT_EQ(ends_of(there), Ends{.done = 2});
  }
}

TEST_F(AwaitedEndsTest, ItemsDieThoughTheNodesOfTheirPushAreDeleted) {
  expect_deaths_without_nodes(false);
}

TEST_F(AwaitedEndsTest, ItemsDieInTheEndThoughTheNodesOfTheirPushAreDeleted) {
  expect_deaths_without_nodes(true);
}

TEST_F(AwaitedEndsTest, PurgedItemsCountIfTheyAreAwaited) {
  Pusher pusher(here_);
  pusher.push_up_to(3);
  observer_.create("/q/items/100-0000000000/0123456789ab-0000000009", "of an older version");
  EXPECT_EQ(purge(observer_.session()).removed, 4);
  EXPECT_TRUE(items().empty());
  EXPECT_EQ(ends_of(pusher), Ends{.purged = 3});
  EXPECT_EQ(pusher.look().left(), 0);
}

TEST_F(AwaitedEndsTest, APurgeRemovesItemsOfAPushThatIsGone) {
  Pusher gone(here_), there(here_);
  gone.push_up_to(2);
  there.push_up_to(1);
  delete_nodes_of(gone);
  EXPECT_EQ(purge(observer_.session()).removed, 3);
  EXPECT_TRUE(items().empty());
  EXPECT_EQ(ends_of(there), Ends{.purged = 1});
}

TEST_F(AwaitedEndsTest, APurgeWhoseAnswerIsLostCountsOnce) {
  Pusher pusher(here_);
  pusher.push_up_to(3);
  Client client(through_proxy_);
  proxy_.lose_answer_to(kTransaction);
  purge(client.session);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_TRUE(items().empty());
  EXPECT_EQ(ends_of(pusher), Ends{.purged = 3});
}

TEST_F(AwaitedEndsTest, APurgeLeavesWhatIsInWorkAndTakesWhatHasALeftClaim) {
  Pusher pusher(here_);
  pusher.push_up_to(2);
  Worker worker(here_);
  const auto taken = worker.take(1);
  ASSERT_EQ(taken.size(), 1u);
  observer_.create(claim_of(items().back()), "left");
  const Purged purged = purge(observer_.session());
  EXPECT_EQ(purged.removed, 1);
  EXPECT_EQ(purged.in_work, 1);
  EXPECT_EQ(ends_of(pusher), Ends{.purged = 1});
  worker.remove(taken);
  EXPECT_EQ(ends_of(pusher), (Ends{.done = 1, .purged = 1}));
}

TEST_F(AwaitedEndsTest, APurgedLetterWasCountedBefore) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  bury_one();
  EXPECT_EQ(purge(observer_.session(), true).removed, 1);
  EXPECT_TRUE(letters().empty());
  EXPECT_EQ(ends_of(pusher), Ends{.dead = 1});
}

TEST_F(AwaitedEndsTest, ALetterThatIsPutBackKeepsItsTagAndIsAwaitedAgain) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  bury_one();
  ASSERT_EQ(pusher.look().left(), 0);
  EXPECT_EQ(requeue_these(observer_.session()), 1);
  EXPECT_TRUE(letters().empty());
  ASSERT_EQ(items().size(), 1u);
  EXPECT_EQ(push_of(items().front()), pusher.push.token());
  EXPECT_EQ(ends_of(pusher), (Ends{.dead = 1, .back = 1}));
  EXPECT_EQ(pusher.look().dead, 0);
  EXPECT_EQ(pusher.look().left(), 1);
  Worker worker(here_);
  worker.remove(worker.take(1));
  EXPECT_EQ(pusher.look().done, 1);
  EXPECT_EQ(pusher.look().left(), 0);
}

TEST_F(AwaitedEndsTest, ALetterIsPutBackByAnIdWithoutTags) {
  Pusher pusher(here_);
  pusher.push_up_to(2);
  bury_one();
  bury_one();
  const std::string wanted = letters().front();
  EXPECT_EQ(requeue_these(observer_.session(), {zk::name_of(wanted)}), 0);
  EXPECT_EQ(requeue_these(observer_.session(), {id_of(wanted)}), 1);
  EXPECT_FALSE(exists(wanted));
  EXPECT_EQ(letters().size(), 1u);
}

TEST_F(AwaitedEndsTest, ALetterWhosePushIsGoneIsPutBackWithoutItsTag) {
  Pusher gone(here_), there(here_);
  gone.push_up_to(1);
  there.push_up_to(1);
  bury_one();
  bury_one();
  delete_nodes_of(gone);
  EXPECT_EQ(requeue_these(observer_.session()), 2);
  EXPECT_TRUE(letters().empty());
  std::set<std::string> pushes;
  for (const std::string& item : items()) pushes.insert(push_of(item));
  EXPECT_EQ(pushes, (std::set<std::string>{"", there.push.token()}));
  EXPECT_EQ(ends_of(there), (Ends{.dead = 1, .back = 1}));
}

TEST_F(AwaitedEndsTest, ALetterWhosePushGoesMeanwhileIsPutBackWithoutItsTag) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  bury_one();
  Client client(through_proxy_);
  bool deleted = false;
  const Script script(client.loop, [&] {
    if (!proxy_.is_silent() || std::exchange(deleted, true)) return;
    delete_nodes_of(pusher);
    proxy_.set(test::FaultProxy::Mode::pass);
  });
  proxy_.fall_silent_after(kExists);  // its counter is still there
  EXPECT_EQ(requeue_these(client.session), 1);
  EXPECT_TRUE(deleted);
  EXPECT_TRUE(letters().empty());
  ASSERT_EQ(items().size(), 1u);
  EXPECT_EQ(push_of(items().front()), "");
}

TEST_F(AwaitedEndsTest, ARequeueWhoseAnswerIsLostCountsOnce) {
  Pusher pusher(here_);
  pusher.push_up_to(1);
  bury_one();
  Client client(through_proxy_);
  proxy_.lose_answer_to(kTransaction);
  EXPECT_EQ(requeue_these(client.session), 1);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(ends_of(pusher), (Ends{.dead = 1, .back = 1}));
}

TEST_F(AwaitedEndsTest, AQueueWithoutAwaitedPushesIsDeletedInOneTransaction) {
  make_queue();
  Client client(through_proxy_);
  const int before = proxy_.requests(kTransaction);
  EXPECT_TRUE(delete_all(client.session));
  EXPECT_EQ(proxy_.requests(kTransaction), before + 1);
  EXPECT_FALSE(exists("/q"));
}

TEST_F(AwaitedEndsTest, AQueueIsDeletedWithTheNodesOfItsPushes) {
  make_left_queue("/q");
  EXPECT_TRUE(delete_all(observer_.session()));
  EXPECT_FALSE(exists("/q"));
}

TEST_F(AwaitedEndsTest, ADeletionThatWasInterruptedGoesOn) {
  constexpr int kNoAuth = -102;
  make_left_queue("/q");
  {
    Client client(through_proxy_);
    proxy_.answer_with(kRemove, kNoAuth);
    EXPECT_THROW(delete_all(client.session), Failure);
  }
  EXPECT_EQ(observer_.read("/q").data, kLeavingQueue);
  EXPECT_EQ(observer_.children("/q"), Texts{"awaited"});
  EXPECT_THROW(found_by(observer_.session()), Failure);
  EXPECT_THROW(Pusher{here_}, Failure);
  EXPECT_TRUE(delete_all(observer_.session()));
  EXPECT_FALSE(exists("/q"));
}

TEST_F(AwaitedEndsTest, ADeletionOfWhichOnlyTheMarkIsLeftGoesOn) {
  observer_.create("/q", std::string(kLeavingQueue));
  EXPECT_TRUE(delete_all(observer_.session()));
  EXPECT_FALSE(exists("/q"));
}

// In each turn once.
TEST_F(AwaitedEndsTest, ADeletionWhoseAnswerIsLostIsDone) {
  bool disturbed = true;
  for (int moment = 0; disturbed; ++moment) {
    SCOPED_TRACE(fmt::format("in turn {}", moment));
    const std::string queue = fmt::format("/q{}", moment);
    make_left_queue(queue);
    Client client(through_proxy_);
    disturbed = false;
    int turn = 0;
    const Script script(client.loop, [&] {
      if (turn++ != moment) return;
      disturbed = true;
      proxy_.lose_next_answer();
    });
    EXPECT_TRUE(delete_all(client.session, queue));
    EXPECT_FALSE(exists(queue));
  }
  EXPECT_GT(proxy_.lost(), 3);
}

TEST_F(AwaitedEndsTest, AQueueThatAPusherWaitsAtIsNotDeleted) {
  Pusher pusher(here_);
  EXPECT_FALSE(delete_all(observer_.session()));
  EXPECT_EQ(observer_.read("/q").data, kTaggedQueue);
  EXPECT_EQ(pusher.look().left(), 0);
  pusher.push_up_to(1);
  EXPECT_EQ(items().size(), 1u);
}

TEST_F(AwaitedEndsTest, AQueueWithItemsOfAPusherThatIsGoneIsNotDeleted) {
  {
    Pusher pusher(here_);
    pusher.push_up_to(1);
  }
  EXPECT_FALSE(delete_all(observer_.session()));
  EXPECT_EQ(observer_.read("/q").data, kTaggedQueue);
  EXPECT_EQ(purge(observer_.session()).removed, 1);
  EXPECT_TRUE(delete_all(observer_.session()));
  EXPECT_FALSE(exists("/q"));
}

TEST_F(AwaitedEndsTest, DeleteNamesWhatIsNotOursAmongThePushes) {
  make_left_queue("/q");
  observer_.create("/q/awaited/mine");
  try {
    delete_all(observer_.session());
    ADD_FAILURE() << "it was deleted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_data);
    EXPECT_NE(failure.text().find("/q/awaited/mine is not zklock's"), std::string::npos) << failure.text();
  }
  EXPECT_TRUE(exists("/q/awaited/mine"));
}

}  // namespace awaited_ends_test
}  // namespace zklock::recipe
