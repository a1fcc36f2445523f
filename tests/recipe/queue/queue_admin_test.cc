// SPDX-License-Identifier: Apache-2.0
// recipe/queue/admin: answers are lost, and others change the queue, at each moment once.
#include "recipe/queue/admin.h"
#include "recipe/queue/upkeep.h"
#include "support/proxied.h"
#include "zk/path.h"

#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace queue_admin_test {

using namespace std::chrono_literals;
using test::Script;
using zk::Step;

class QueueAdminTest : public test::Proxied {
 protected:
  void make_queue(const std::string& queue) {
    layout_ = {queue};
    for (const Step& step : steps_to_make(layout_)) observer_.create(step.path, step.data);
    for (const std::string& path : {segment(), dead_segment()}) observer_.create(path);
  }
  void transact(const std::vector<Step>& steps) {
    zk::Session& session = observer_.session();
    ASSERT_EQ(session.await(session.client().transact(steps)).code, zk::Code::ok);
  }
  std::string segment(int number = 0) const { return segment_path(layout_.items(), Segment{100, number}); }
  std::string dead_segment() const { return segment_path(layout_.dead(), Segment{100, 0}); }
  std::string dead(int number) const { return fmt::format("{}/token-{:010}", dead_segment(), number); }
  void bury(int number) {
    transact({{Step::Kind::create, dead(number), "text"}, {Step::Kind::create, why_of(dead(number)), "why"}});
  }
  size_t size_of(const std::string& folder) { return observer_.children(folder).size(); }

  // Calls `act` with `disturb` in its first turn, then with it in its second, and so on, until `act` ends before.
  void sweep(const std::function<void()>& disturb, const std::function<void(zk::Session&)>& act) {
    bool disturbed = true;
    for (int moment = 0; disturbed; ++moment) {
      SCOPED_TRACE(fmt::format("in turn {}", moment));
      make_queue(fmt::format("/q{}", moment));
      bury(0);
      host::Loop loop;
      zk::Session session(loop, test::options_for(through_proxy_));
      session.open();
      disturbed = false;
      int turn = 0;
      const Script script(loop, [&] {
        if (turn++ != moment) return;
        disturbed = true;
        disturb();
      });
      act(session);
    }
  }
  FoundQueue found_by(zk::Session& session) {
    return look_at_queue(session, layout_, {layout_.items(), layout_.dead()}, "cannot look");
  }

  bool delete_all(zk::Session& session) {
    const std::vector<std::string> folders{layout_.items(), layout_.dead(), layout_.queue};
    return delete_queue(session, layout_, look_at_queue(session, layout_, folders, "cannot look"));
  }

  int64_t requeue_all(zk::Session& session) {
    std::set<std::string> ids;
    int64_t moved = 0;
    requeue(session, layout_, found_by(session), ids, moved);
    return moved;
  }

  QueueLayout layout_;
};

TEST_F(QueueAdminTest, ARequeueWhoseAnswerIsLostIsDoneAndCountedOnce) {
  sweep([&] { proxy_.lose_next_answer(); },
        [&](zk::Session& session) {
          EXPECT_EQ(requeue_all(session), 1);
          EXPECT_EQ(size_of(segment()), 1u);
          EXPECT_EQ(size_of(dead_segment()), 0u);
        });
  EXPECT_GT(proxy_.lost(), 2);
}

TEST_F(QueueAdminTest, ADeadItemThatSomebodyElseRemovesIsNotCounted) {
  sweep([&] { observer_.remove(why_of(dead(0))), observer_.remove(dead(0)); },
        [&](zk::Session& session) {
          const int64_t moved = requeue_all(session);
          EXPECT_EQ(moved, static_cast<int64_t>(size_of(segment())));
        });
}

TEST_F(QueueAdminTest, ARequeueFillsSegmentsAndSealsThem) {
  make_queue("/q");
  std::vector<Step> steps(999,
                          {Step::Kind::create, segment() + "/token-", "", -1, zk::CreateMode::persistent_sequential});
  transact(steps);
  for (int i = 0; i < 3; ++i) bury(i);
  EXPECT_EQ(requeue_all(observer_.session()), 3);
  EXPECT_EQ(size_of(segment()), 1002u) << "all are on their way before the first answer tells how full it is";
  EXPECT_TRUE(is_sealed(observer_.read(segment()).stat));
  bury(3);
  EXPECT_EQ(requeue_all(observer_.session()), 1);
  EXPECT_EQ(size_of(segment(1)), 1u);
}

TEST_F(QueueAdminTest, ARequeueOfManyFillsOneSegmentAfterTheOther) {
  make_queue("/q");
  for (int i = 0; i < 1002; i += 334) {
    std::vector<Step> steps;
    for (int letter = i; letter < i + 334; ++letter) steps.push_back({Step::Kind::create, dead(letter), "text"});
    transact(steps);
  }
  EXPECT_EQ(requeue_all(observer_.session()), 1002);
  EXPECT_EQ(size_of(segment()), 1000u);
  EXPECT_TRUE(is_sealed(observer_.read(segment()).stat));
  EXPECT_EQ(size_of(segment(1)), 2u);
}

TEST_F(QueueAdminTest, NothingGoesBackIntoASegmentThatSomebodyElseHasSealed) {
  constexpr size_t kLetters = 100;  // more than are sent at once
  make_queue("/q");
  for (size_t i = 0; i < kLetters; ++i) bury(static_cast<int>(i));
  host::Loop loop;
  zk::Session session(loop, test::options_for(here_));
  session.open();
  size_t at_seal = 0;
  const Script script(loop, [&] {
    if (at_seal > 0 || size_of(segment()) == 0) return;
    transact(steps_to_seal(layout_.items(), Segment{100, 0}));
    at_seal = size_of(segment());
  });
  EXPECT_EQ(requeue_all(session), static_cast<int64_t>(kLetters));
  EXPECT_LT(at_seal, kLetters);
  EXPECT_EQ(size_of(segment()), at_seal);
  EXPECT_EQ(size_of(segment(1)), kLetters - at_seal);
}

TEST_F(QueueAdminTest, ADeleteWhoseAnswerIsLostIsDone) {
  sweep([&] { proxy_.lose_next_answer(); },
        [&](zk::Session& session) {
          observer_.remove(why_of(dead(0)));
          observer_.remove(dead(0));
          EXPECT_TRUE(delete_all(session));
          EXPECT_EQ(observer_.read(layout_.queue).code, zk::Code::no_node);
        });
}

TEST_F(QueueAdminTest, TheDeadAreListedInTheOrderInWhichTheyDied) {
  make_queue("/q");
  bury(2);
  bury(1);
  QueueWalk walk(observer_.session(), layout_, true);
  std::vector<std::string> names;
  for (const QueueItem& item : walk.next(10)) names.push_back(zk::name_of(item.path));
  EXPECT_EQ(names, (std::vector<std::string>{"token-0000000002", "token-0000000001"}));
}

TEST_F(QueueAdminTest, TheFirstBytesOfItemsBehindAnEmptySegmentAreListed) {
  make_queue("/q");
  transact({{Step::Kind::create, segment(1)},
            {Step::Kind::create, segment(1) + "/token-0000000000", std::string(10000, 'x')}});
  QueueWalk walk(observer_.session(), layout_, false);
  const std::vector<QueueItem> items = walk.next(10);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items.front().data, std::string(200, 'x'));
}

TEST_F(QueueAdminTest, WhatIsGoneBeforeItIsLookedAtIsNotListed) {
  sweep([&] { observer_.remove(why_of(dead(0))), observer_.remove(dead(0)); },
        [&](zk::Session& session) {
          QueueWalk walk(session, layout_, true);
          for (const QueueItem& item : walk.next(10)) EXPECT_NE(item.stat.created, 0);
        });
}

TEST_F(QueueAdminTest, APurgeRemovesASegmentThatIsSealedAndEmptyThen) {
  make_queue("/q");
  transact({{Step::Kind::create, segment() + "/token-0000000000", "text"}});
  transact(steps_to_seal(layout_.items(), Segment{100, 0}));
  Purged purged;
  purge_queue(observer_.session(), layout_, found_by(observer_.session()), false, purged);
  EXPECT_EQ(purged.removed, 1);
  EXPECT_EQ(observer_.children(layout_.items()), std::vector<std::string>{"100-0000000001"});
}

TEST_F(QueueAdminTest, APurgeOfTheDeadRemovesTheirSegments) {
  make_queue("/q");
  bury(0);
  Purged purged;
  purge_queue(observer_.session(), layout_, found_by(observer_.session()), true, purged);
  EXPECT_EQ(purged.removed, 1);
  EXPECT_EQ(size_of(layout_.dead()), 0u);
}

TEST_F(QueueAdminTest, ANodeBelowTheReasonEndsARequeueWithItsName) {
  make_queue("/q");
  bury(0);
  observer_.create(why_of(dead(0)) + "/note");
  try {
    requeue_all(observer_.session());
    ADD_FAILURE() << "it was moved";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_data);
    EXPECT_NE(failure.text().find(why_of(dead(0)) + "/note is not zklock's"), std::string::npos) << failure.text();
  }
}

TEST_F(QueueAdminTest, AnItemWhoseClaimIsInNoSessionIsNotCountedAsInWork) {
  make_queue("/q");
  for (int number = 0; number < 3; ++number)
    observer_.create(fmt::format("{}/token-{:010}", segment(), number), "text");
  observer_.create(claim_of(segment() + "/token-0000000000"), "left");
  zk::Session& session = observer_.session();
  const std::string held = claim_of(segment() + "/token-0000000001");
  ASSERT_EQ(session.await(session.client().create(held, "", zk::CreateMode::ephemeral)).code, zk::Code::ok);
  const QueueCounts counts = count_queue(session, layout_, true);
  EXPECT_EQ(counts.items, 3);
  EXPECT_EQ(counts.in_work, 1);
}

TEST_F(QueueAdminTest, PurgeRemovesItemsWhoseClaimIsInNoSession) {
  make_queue("/q");
  for (const char* name : {"/t-0000000000", "/t-0000000001", "/t-0000000002"}) observer_.create(segment() + name);
  observer_.create(claim_of(segment() + "/t-0000000000"), "left");
  observer_.create(segment() + "/t-0000000001/note");
  Purged purged;
  purge_queue(observer_.session(), layout_, found_by(observer_.session()), false, purged);
  EXPECT_EQ(purged.removed, 2);
  EXPECT_EQ(purged.in_work, 0);
  EXPECT_EQ(purged.foreign, std::vector<std::string>{segment() + "/t-0000000001/note"});
}

// The purge has found it in work.
TEST_F(QueueAdminTest, AnItemThatItsWorkerEndsMeanwhileIsNotSaidToBeInWorkByPurge) {
  make_queue("/q");
  const std::string item = segment() + "/token-0000000000";
  observer_.create(item, "text");
  zk::Session& worker = observer_.session();
  const zk::Call claimed = worker.client().create(claim_of(item), "", zk::CreateMode::ephemeral);
  ASSERT_EQ(worker.await(claimed).code, zk::Code::ok);
  host::Loop loop;
  zk::Session session(loop, test::options_for(through_proxy_, 60s));
  session.open();
  const FoundQueue found = found_by(session);
  bool ended = false;
  const Script script(loop, [&] {
    if (!proxy_.is_silent() || std::exchange(ended, true)) return;
    transact({{Step::Kind::remove, claim_of(item)}, {Step::Kind::remove, item}});
    proxy_.set(test::FaultProxy::Mode::pass);
  });
  proxy_.fall_silent_after(test::opcode::kRemove);
  Purged purged;
  purge_queue(session, layout_, found, false, purged);
  EXPECT_TRUE(ended);
  EXPECT_EQ(purged.in_work, 0);
}

TEST_F(QueueAdminTest, ANodeBelowAnItemOrItsReasonThatIsNotOursIsNamedByPurge) {
  make_queue("/q");
  bury(0);
  bury(1);
  observer_.create(why_of(dead(0)) + "/note");
  Purged purged;
  purge_queue(observer_.session(), layout_, found_by(observer_.session()), true, purged);
  EXPECT_EQ(purged.removed, 1);
  EXPECT_EQ(purged.foreign, std::vector<std::string>{why_of(dead(0)) + "/note"});
}

// Some of the nodes that it wants to delete are gone, and others are there.
TEST_F(QueueAdminTest, AQueueThatHasChangedSinceTheLookIsDeletedAllTheSame) {
  make_queue("/q");
  const FoundQueue found =
      look_at_queue(observer_.session(), layout_, {layout_.items(), layout_.dead(), layout_.queue}, "cannot look");
  observer_.remove(dead_segment());
  observer_.remove(segment());
  observer_.create(segment(1));
  EXPECT_TRUE(delete_queue(observer_.session(), layout_, found));
  EXPECT_EQ(observer_.read("/q").code, zk::Code::no_node);
}

TEST_F(QueueAdminTest, TheDeadOfSeveralSegmentsArePurgedWithTheirReasons) {
  make_queue("/q");
  const std::string other = segment_path(layout_.dead(), Segment{100, 1});
  bury(0);
  transact({{Step::Kind::create, other},
            {Step::Kind::create, other + "/token-0000000000"},
            {Step::Kind::create, other + "/token-0000000001", "text"},
            {Step::Kind::create, why_of(other + "/token-0000000001"), "why"}});
  Purged purged;
  purge_queue(observer_.session(), layout_, found_by(observer_.session()), true, purged);
  EXPECT_EQ(purged.removed, 3);
  EXPECT_EQ(size_of(layout_.dead()), 0u);
}

TEST_F(QueueAdminTest, DeleteRemovesPlacesAndMarkersThatAreInNoSession) {
  make_queue("/q");
  observer_.create(layout_.marker("0123456789ab"));
  observer_.create(layout_.waiting() + "/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-0000000003");
  EXPECT_TRUE(delete_all(observer_.session()));
}

TEST_F(QueueAdminTest, DeleteNamesWhatIsNotOurs) {
  for (const std::string& node :
       {std::string("pushing/mine"), std::string("waiting/mine"), "items/" + Segment{100, 0}.name() + "/mine"}) {
    make_queue("/" + node.substr(0, node.find('/')));
    observer_.create(layout_.queue + "/" + node);
    try {
      delete_all(observer_.session());
      ADD_FAILURE() << node;
    } catch (const Failure& failure) {
      EXPECT_NE(failure.text().find(node + " is not zklock's"), std::string::npos) << failure.text();
    }
  }
}

}  // namespace queue_admin_test
}  // namespace zklock::recipe
