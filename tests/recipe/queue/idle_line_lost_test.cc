// SPDX-License-Identifier: Apache-2.0
// A consumer waits for an item while the connection breaks. The delete of its place is lost, or the owner of the place
// before it may be dead.
#include "recipe/queue/idle_line.h"
#include "support/idle_waiter.h"
#include "support/party.h"
#include "support/proxied.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace idle_line_lost_test {

using namespace std::chrono_literals;
using test::Script;
using test::Slumber;
using test::opcode::kRemove;
using Waiter = test::IdleWaiter;

class IdleLineLostTest : public test::Proxied {
 protected:
  void SetUp() override {
    observer_.create("/q", std::string(kQueueFormat));
    for (const char* folder : {"items", "dead", "pushing", "waiting"}) observer_.create(fmt::format("/q/{}", folder));
    observer_.create(kSegment);
  }
  void push() { observer_.create(kSegment + "/token-0000000000", "item"); }
  size_t places() { return observer_.children("/q/waiting").size(); }
  Outcome wait(Waiter& waiter) { return waiter.line.wait({true, deadline_in(10s)}, false); }

  // Lets it wait; then the delete of its place does not reach the servers, which are away from then on.
  void leave_in_vain(Waiter& waiter) {
    bool asleep = false;
    Slumber slumber(waiter);
    const Script script(waiter.loop, [&] { asleep |= slumber.after_turn(); });
    proxy_.break_before(kRemove);
    ASSERT_EQ(waiter.line.wait({true, deadline_in(10s), [&] { return asleep; }}, false), Outcome::disturbed);
    ASSERT_TRUE(proxy_.is_refusing());
    ASSERT_EQ(places(), 1u);
  }

  const std::string kSegment = "/q/items/100-0000000000";
};

TEST_F(IdleLineLostTest, APlaceWhoseDeleteDoesNotArriveIsLeftAsSoonAsOneDoes) {
  Waiter waiter(through_proxy_, "/q", 3s);
  leave_in_vain(waiter);
  proxy_.break_before(kRemove);
  proxy_.accept_again();
  ASSERT_TRUE(test::eventually(waiter.loop, [&] { return proxy_.is_refusing(); }));
  proxy_.accept_again();
  EXPECT_TRUE(test::eventually(waiter.loop, [&] { return places() == 0; }));
  EXPECT_FALSE(waiter.session.expired());
}

TEST_F(IdleLineLostTest, APlaceIsTakenAnewWhenTheDeleteOfTheLastOneHasNoAnswer) {
  Waiter waiter(through_proxy_, "/q", 3s);
  leave_in_vain(waiter);
  proxy_.lose_answer_to(kRemove);
  proxy_.accept_again();
  push();
  Outcome end = wait(waiter);
  while (end == Outcome::disturbed) end = wait(waiter);
  EXPECT_EQ(end, Outcome::held);
  EXPECT_EQ(proxy_.lost(), 1);
}

TEST_F(IdleLineLostTest, APlaceThatGoesWithItsSessionIsNotWaitedFor) {
  Waiter waiter(through_proxy_, "/q", 1500ms);
  leave_in_vain(waiter);
  const Script script(waiter.loop, [&] {
    if (places() == 0) proxy_.accept_again();
  });
  EXPECT_THROW(wait(waiter), zk::SessionOver);
}

// The first in line may have died while the servers were away.
TEST_F(IdleLineLostTest, NobodySleepsForLongBehindAnotherAfterAReconnect) {
  Waiter first(here_, "/q");
  test::CountingObserver observer;
  Lock place(first.session, {"/q/waiting"}, std::nullopt, test::kPlaceNote, observer, "cannot wait");
  ASSERT_EQ(place.acquire({true, deadline_in(20s)}), Outcome::held);
  Waiter waiter(through_proxy_, "/q", 3s);
  bool cut = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    if (slumber.after_turn() && !std::exchange(cut, true)) proxy_.cut();
  });
  EXPECT_EQ(wait(waiter), Outcome::disturbed);
  EXPECT_EQ(wait(waiter), Outcome::disturbed);
}

class NextSession : public IdleLineLostTest {
 protected:
  // Lets it sleep after another one in line until its session is over; then it begins again in the next session.
  void lose_session(Waiter& waiter) {
    ASSERT_EQ(first_place_.acquire({true, deadline_in(20s)}), Outcome::held);
    Slumber slumber(waiter);
    const Script script(waiter.loop, [&, cut = false]() mutable {
      // The next session has another client.
      if (cut || !slumber.after_turn()) return;
      cut = true;
      proxy_.expire_resumed(true);
      proxy_.cut();
    });
    EXPECT_THROW(while (wait(waiter) == Outcome::disturbed){}, zk::SessionOver);
    proxy_.expire_resumed(false);
    waiter.session.open();
    waiter.line.forget();
    waiter.consumer.forget_all();
  }
  // Returns the place that was made last.
  std::string last_place() {
    std::vector<std::string> names = observer_.children("/q/waiting");
    const auto number = [](const std::string& name) { return name.substr(name.size() - 10); };
    return "/q/waiting/" + *std::ranges::max_element(names, {}, number);
  }

  Waiter first_{here_, "/q"};
  test::CountingObserver observer_of_first_;
  Lock first_place_{first_.session, {"/q/waiting"}, std::nullopt, test::kPlaceNote, observer_of_first_, "cannot wait"};
};

TEST_F(NextSession, APlaceThatIsRemovedThereIsNoticed) {
  Waiter waiter(through_proxy_, "/q");
  lose_session(waiter);
  bool removed = false;
  Slumber slumber(waiter);
  const Script script(waiter.loop, [&] {
    // The place of the session before is there as well.
    if (slumber.after_turn() && places() == 3 && !std::exchange(removed, true)) observer_.remove(last_place());
  });
  EXPECT_EQ(wait(waiter), Outcome::removed);
  EXPECT_TRUE(removed);
}

// The client before us may have died in the outage that ended our session.
TEST_F(NextSession, NobodySleepsForLongBehindAnother) {
  Waiter waiter(through_proxy_, "/q", 1500ms);
  lose_session(waiter);
  EXPECT_EQ(wait(waiter), Outcome::disturbed);
}

}  // namespace idle_line_lost_test
}  // namespace zklock::recipe
