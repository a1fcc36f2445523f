// SPDX-License-Identifier: Apache-2.0
// Waits for an item, against a real server: whatever brings one, and whenever it comes, no waiter sleeps through it.
#include "recipe/queue/idle_line.h"

#include "recipe/queue/queue_watch.h"
#include "support/idle_waiter.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace idle_line_test {

using namespace std::chrono_literals;
using test::Script;
using test::Slumber;
using Waiter = test::IdleWaiter;

class IdleLineTest : public testing::Test {
 protected:
  // Makes a queue without items.
  void make_queue(const std::string& queue) {
    queue_ = queue;
    observer_.create(queue_, std::string(kQueueFormat));
    for (const char* folder : {"items", "dead", "pushing", "waiting"}) observer_.create(queue_ + "/" + folder);
    observer_.create(segment(100, 0));
  }
  std::string segment(int priority, int number) { return segment_path(queue_ + "/items", Segment{priority, number}); }
  std::string item(int number = 0) { return fmt::format("{}/token-{:010}", segment(100, 0), number); }
  void claim_items(zk::Session& owner, int count = 1) {
    owner.open();
    for (int i = 0; i < count; ++i) {
      observer_.create(item(i), "item");
      owner.await(owner.client().create(claim_of(item(i)), "", zk::CreateMode::ephemeral));
    }
  }
  void finish_item(int number = 0) {
    transact({{zk::Step::Kind::remove, claim_of(item(number))}, {zk::Step::Kind::remove, item(number)}});
  }
  // Makes a child that is no item, and so fires the segment's watch.
  void wake() { observer_.create(item() + "x"); }
  void push(const std::string& into) { observer_.create(into + "/token-0000000007", "item"); }
  // Makes a place at the end of the line, for a consumer that does nothing.
  void stand_in_line(const std::string& note) {
    const std::string place = queue_ + "/waiting/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-";
    owner_.open();
    ASSERT_EQ(owner_.await(owner_.client().create(place, note, zk::CreateMode::ephemeral_sequential)).code,
              zk::Code::ok);
  }
  void transact(const std::vector<zk::Step>& steps) {
    zk::Session& session = observer_.session();
    ASSERT_EQ(session.await(session.client().transact(steps)).code, zk::Code::ok);
  }

  // Lets a consumer wait at an empty line, with `change` in its first turn, then one with it in its second, and so on,
  // until it finds one asleep. If that one sleeps on or falls asleep, calls `more`. Each wait must take an item with
  // the data `taken`, or if that is empty, end because the queue is.
  void sweep(const std::string& taken, const std::function<void()>& prepare, const std::function<void()>& change,
             const std::function<void()>& more = nullptr) {
    bool asleep = false;
    for (int moment = 0; !asleep; ++moment) {
      make_queue(fmt::format("/q{}", moment));
      prepare();
      Waiter waiter(here_, queue_);
      int turn = 0;
      bool last = false;
      Slumber slumber(waiter);
      const Script script(waiter.loop, [&] {
        const bool sleeps = slumber.after_turn();
        if (turn++ == moment) {
          asleep = sleeps;
          slumber.begin_again();
          change();
        } else if (turn > moment && sleeps && more && !std::exchange(last, true)) {
          more();
        }
      });
      ASSERT_EQ(waiter.line.wait({true, deadline_in(10s)}, taken.empty()), Outcome::held) << "in turn " << moment;
      ASSERT_GT(turn, moment) << "it did not wait for the change";
      EXPECT_EQ(waiter.text(), taken) << "in turn " << moment;
      EXPECT_TRUE(observer_.children(queue_ + "/waiting").empty());
    }
  }

  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Observer observer_{here_};
  host::Loop others_;
  zk::Session owner_{others_, test::options_for(here_)};
  std::string queue_;
};

TEST_F(IdleLineTest, APushIsNotMissed) {
  sweep(
      "item", [] {}, [&] { push(segment(100, 0)); });
}

TEST_F(IdleLineTest, APushIntoANewSegmentIsNotMissed) {
  sweep(
      "item", [] {},
      [&] {
        observer_.create(segment(100, 1));
        push(segment(100, 1));
      });
}

TEST_F(IdleLineTest, APushOfAHigherPriorityIsNotMissed) {
  sweep(
      "item", [] {},
      [&] {
        observer_.create(segment(50, 0));
        push(segment(50, 0));
      });
}

TEST_F(IdleLineTest, AClaimGivenBackIsNotMissed) {
  sweep(
      "item", [&] { claim_items(owner_); }, [&] { observer_.remove(claim_of(item())); });
}

TEST_F(IdleLineTest, AClaimThatGoesWithItsSessionIsNotMissed) {
  sweep(
      "item", [&] { claim_items(owner_); }, [&] { owner_.close(); });
}

TEST_F(IdleLineTest, ThatTheLastItemInWorkIsDoneIsNotMissed) {
  sweep(
      "", [&] { claim_items(owner_); }, [&] { finish_item(); });
}

TEST_F(IdleLineTest, ThatTheLastTwoItemsInWorkAreDoneOneAfterTheOtherIsNotMissed) {
  sweep(
      "", [&] { claim_items(owner_, 2); }, [&] { finish_item(0); }, [&] { finish_item(1); });
}

TEST_F(IdleLineTest, ThatOnlyANodeThatIsNotOursIsLeftBelowTheLastItemInWorkIsNotMissed) {
  sweep(
      "",
      [&] {
        claim_items(owner_);
        observer_.create(item() + "/note");
      },
      [&] { observer_.remove(claim_of(item())); });
}

TEST_F(IdleLineTest, AQueueThatWasDeletedIsNotMadeAgainInPart) {
  Waiter waiter(here_, "/gone");
  EXPECT_THROW(waiter.line.wait({true, deadline_in(10s)}, false), Failure);
  EXPECT_EQ(observer_.read("/gone").code, zk::Code::no_node);
}

// A sealed segment is not watched.
TEST_F(IdleLineTest, APushThatFillsItsSegmentIsNotMissed) {
  sweep(
      "item", [] {},
      [&] {
        std::vector<zk::Step> steps{{zk::Step::Kind::create, segment(100, 0) + "/token-0000000007", "item"}};
        std::ranges::move(steps_to_seal(queue_ + "/items", Segment{100, 0}), std::back_inserter(steps));
        transact(steps);
      });
}

TEST_F(IdleLineTest, APlaceInLineThatIsRemovedIsNotMissed) {
  bool asleep = false;
  for (int moment = 0; !asleep; ++moment) {
    make_queue(fmt::format("/q{}", moment));
    Waiter waiter(here_, queue_);
    int turn = 0;
    Slumber slumber(waiter);
    const Script script(waiter.loop, [&] {
      const std::vector<std::string> places = observer_.children(queue_ + "/waiting");
      const bool sleeps = slumber.after_turn();
      if (places.empty() || turn++ != moment) return;
      asleep = sleeps;
      observer_.remove(queue_ + "/waiting/" + places.front());
    });
    ASSERT_EQ(waiter.line.wait({true, deadline_in(10s)}, false), Outcome::removed) << "in turn " << moment;
  }
}

// The item is claimed in the transaction that leaves the line.
TEST_F(IdleLineTest, AfterAnItemThatCouldNotBeRemovedNoPlaceIsMissed) {
  make_queue("/q");
  Waiter waiter(here_, queue_);
  Slumber slumber(waiter);
  bool done = false;
  const Script script(waiter.loop, [&] {
    if (!slumber.after_turn() || std::exchange(done, true)) return;
    transact({{zk::Step::Kind::create, item(), "item"}, {zk::Step::Kind::create, item() + "/note"}});
  });
  EXPECT_EQ(waiter.line.wait({true, deadline_in(10s)}, false), Outcome::disturbed);
  EXPECT_TRUE(observer_.children(queue_ + "/waiting").empty());
}

// So the new watch is set too late for the push.
TEST_F(IdleLineTest, APushJustBehindAChangeThatWasNothingIsNotMissed) {
  make_queue("/q");
  Waiter waiter(here_, queue_);
  bool woken = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (!slumber.after_turn() || std::exchange(woken, true)) return;
    wake();
    push(segment(100, 0));
  });
  EXPECT_EQ(waiter.line.wait({true, deadline_in(10s)}, false), Outcome::held);
}

// There is room for watches on only some of the segments.
TEST_F(IdleLineTest, APushIntoASegmentWithoutAWatchIsFoundByAndBy) {
  make_queue("/" + std::string(200, 'q'));
  std::vector<zk::Step> steps;
  for (int priority = 101; priority < 500; ++priority) steps.push_back({zk::Step::Kind::create, segment(priority, 0)});
  transact(steps);
  Waiter waiter(here_, queue_);
  bool pushed = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (slumber.after_turn() && !std::exchange(pushed, true)) push(segment(499, 0));
  });
  EXPECT_EQ(waiter.line.wait({true, deadline_in(10s)}, false), Outcome::held);
}

TEST_F(IdleLineTest, AnItemThatSomebodyElseTakesAtOnceLeavesTheWaiterAsleep) {
  make_queue("/q");
  Waiter waiter(here_, queue_);
  const Deadline until = deadline_in(10s);
  bool woken = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (!slumber.after_turn()) return;
    slumber.begin_again();
    if (std::exchange(woken, true)) return push(segment(100, 0));
    wake();
  });
  EXPECT_EQ(waiter.line.wait({true, until}, false), Outcome::held);
  EXPECT_LT(waiter.session.client().answers(), 100u);
}

// Version 0.1 does not see items with tags, and would leave them.
TEST_F(IdleLineTest, APushIsNotMissedBehindAConsumerThatMayNotSeeIt) {
  make_queue("/q");
  stand_in_line("note");
  Waiter waiter(here_, queue_);
  bool pushed = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (slumber.after_turn() && !std::exchange(pushed, true)) push(segment(100, 0));
  });
  EXPECT_EQ(waiter.line.wait({true, deadline_in(10s)}, false), Outcome::held);
  EXPECT_TRUE(pushed);
  EXPECT_EQ(waiter.text(), "item");
  EXPECT_EQ(observer_.children(queue_ + "/waiting").size(), 1u);
}

TEST_F(IdleLineTest, APushWakesNoConsumerBehindOneThatSeesIt) {
  make_queue("/q");
  stand_in_line(test::kPlaceNote);
  Waiter waiter(here_, queue_);
  bool pushed = false;
  bool sleeps_on = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (!slumber.after_turn() || sleeps_on) return;
    slumber.begin_again();
    sleeps_on = pushed;
    if (!std::exchange(pushed, true)) push(segment(100, 0));
  });
  EXPECT_EQ(waiter.line.wait({true, deadline_in(10s), [&] { return sleeps_on; }}, false), Outcome::disturbed);
  EXPECT_TRUE(pushed);
}

bool has_fired(const zk::Watch& watch) {
  return watch->fired;
}

TEST_F(IdleLineTest, SegmentsAndTheirListAreWatchedAnewInTheNextSession) {
  make_queue("/q");
  const std::vector<std::function<void()>> changes{[&] { observer_.create(segment(50, 0)); },
                                                   [&] { push(segment(100, 0)); }};
  for (const auto& change : changes) {
    Waiter waiter(here_, queue_);
    QueueWatch watch(waiter.session, {queue_}, waiter.consumer);
    ASSERT_TRUE(watch.watch());
    waiter.session.close();
    waiter.session.open();
    watch.forget();
    ASSERT_TRUE(watch.watch());
    change();
    EXPECT_TRUE(test::eventually(waiter.loop, [&] { return std::ranges::any_of(watch.watches(), has_fired); }));
  }
}

// Otherwise an idle consumer would try to watch it forever.
TEST_F(IdleLineTest, ASegmentThatIsSealedAndRemovedNeedsNoWatch) {
  make_queue("/q");
  Waiter waiter(here_, queue_);
  QueueWatch watch(waiter.session, {queue_}, waiter.consumer);
  ASSERT_TRUE(watch.watch());
  transact(steps_to_seal(queue_ + "/items", Segment{100, 0}));
  observer_.remove(segment(100, 0));
  ASSERT_TRUE(test::eventually(waiter.loop, [&] { return std::ranges::all_of(watch.watches(), has_fired); }));
  EXPECT_TRUE(watch.watch());
}

}  // namespace idle_line_test
}  // namespace zklock::recipe
