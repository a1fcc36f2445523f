// SPDX-License-Identifier: Apache-2.0
// recipe/queue/pusher against a real server, through a failing proxy.
#include "recipe/queue/pusher.h"

#include "support/proxied.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace pusher_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

using Texts = std::vector<std::string>;

// Pushes "<name>1", "<name>2" and so on. The queue may not be there yet.
struct Early {
  explicit Early(const std::string& servers, std::string called = "", Duration session_timeout = 4s)
      : name(std::move(called)), session(loop, test::options_for(servers, session_timeout)) {
    pusher.open();
  }

  // Adds as many as there is room for now.
  void feed(int last) {
    while (pushed < last && pusher.has_room()) pusher.add(fmt::format("{}{}", name, ++pushed));
    if (pushed == last) pusher.flush();
  }
  void turn() {
    session.turn(deadline_in(100ms));
    pusher.settle();
  }
  void push(int last) {
    const Deadline bound = deadline_in(60s);
    for (feed(last); (pushed < last || !pusher.is_done()) && BootClock::now() < bound; feed(last)) turn();
  }

  std::string name;
  int pushed = 0;
  host::Loop loop;
  zk::Session session;
  Pusher pusher{session, {"/q"}, kUsualPriority, "cannot push to /q"};
};

// The queue is there.
struct Party : Early {
  explicit Party(const std::string& servers, std::string called = "", Duration session_timeout = 4s)
      : Early(servers, std::move(called), session_timeout) {
    while (!pusher.is_done()) turn();
  }
};

class PusherTest : public test::Proxied {
 protected:
  // Returns all items in the order in which they are taken.
  Texts queue() {
    Texts paths, texts;
    for (const Segment& segment : segments_of(observer_.children("/q/items"))) {
      const std::string path = segment_path("/q/items", segment);
      std::ranges::move(item_paths(path, observer_.children(path)), std::back_inserter(paths));
    }
    for (const zk::Answer& item : zk::read_all(observer_.session(), paths)) texts.push_back(item.data);
    return texts;
  }
  static Texts numbers(int last, const std::string& name = "") {
    Texts texts;
    for (int i = 1; i <= last; ++i) texts.push_back(fmt::format("{}{}", name, i));
    return texts;
  }
  static Texts of(const Texts& texts, char name) {
    Texts own;
    std::ranges::copy_if(texts, std::back_inserter(own), [&](const std::string& text) { return text[0] == name; });
    return own;
  }

  void expire(Party& party) {
    proxy_.set(FaultProxy::Mode::silent);
    const Deadline back = deadline_in(3 * party.session.timeout());
    while (BootClock::now() < back) party.loop.turn(back);
    proxy_.set(FaultProxy::Mode::pass);
  }
};

TEST_F(PusherTest, ItemsAreInTheOrderInWhichTheyWerePushed) {
  Party party(here_);
  party.push(3210);
  EXPECT_EQ(party.pusher.in(), 3210);
  EXPECT_EQ(queue(), numbers(3210));
}

TEST_F(PusherTest, TheFirstItemsGoTogetherWithWhatMakesTheQueue) {
  observer_.create("/other");  // and the chroot
  Early party(through_proxy_);
  party.push(3);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), 2);
  EXPECT_EQ(queue(), numbers(3));
}

TEST_F(PusherTest, AQueueThatSomebodyElseMakesFirstTakesTheItems) {
  observer_.create("/other");  // and the chroot
  Early party(here_);
  zk::Session& other = observer_.session();
  other.await(other.client().transact(steps_to_make({"/q"})));
  party.push(3);
  EXPECT_EQ(queue(), numbers(3));
  EXPECT_EQ(party.pusher.in(), 3);
}

TEST_F(PusherTest, OfTwoThatMakeTheQueueOneIsFaster) {
  observer_.create("/other");  // and the chroot
  Early a(here_, "a"), b(here_, "b");
  a.push(2);
  b.push(2);
  EXPECT_EQ(queue(), (Texts{"a1", "a2", "b1", "b2"}));
  EXPECT_EQ(observer_.children("/q/items").size(), 1u);
}

TEST_F(PusherTest, AQueueWhoseMakingIsNotAnsweredIsMadeOnce) {
  observer_.create("/other");  // and the chroot
  proxy_.lose_answer_to(test::opcode::kTransaction);
  Early party(through_proxy_);
  party.push(3);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(queue(), numbers(3));
  EXPECT_EQ(party.pusher.in(), 3);
  EXPECT_TRUE(party.pusher.doubles().empty());
}

TEST_F(PusherTest, WhatMakesTheQueueAndNeverArrivedIsMadeUpFor) {
  proxy_.break_before(test::opcode::kTransaction);
  Early party(through_proxy_);
  party.feed(3);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return proxy_.is_refusing(); }));
  proxy_.accept_again();
  party.push(3);
  EXPECT_EQ(queue(), numbers(3));
  EXPECT_TRUE(party.pusher.doubles().empty());
}

TEST_F(PusherTest, WhereTheSessionExpiresWhileTheQueueIsMadeTheNextOneMakesIt) {
  proxy_.break_before(test::opcode::kTransaction);
  Early party(through_proxy_);
  party.feed(3);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return proxy_.is_refusing(); }));
  proxy_.expire_resumed(true);
  proxy_.accept_again();
  party.push(3);
  EXPECT_EQ(queue(), numbers(3));
  ASSERT_EQ(party.pusher.doubles().size(), 1u);
  EXPECT_EQ(party.pusher.doubles()[0].first, 1);
  EXPECT_EQ(party.pusher.doubles()[0].last, 3);
}

TEST_F(PusherTest, ASegmentThatIsFullIsSealedAndTheNextOneIsThere) {
  Party party(here_);
  party.push(2000);
  EXPECT_EQ(observer_.children("/q/items").size(), 3u);
  EXPECT_TRUE(is_sealed(observer_.read("/q/items/100-0000000001").stat));
  EXPECT_FALSE(is_sealed(observer_.read("/q/items/100-0000000002").stat));
}

TEST_F(PusherTest, WhoFindsTheLastSegmentSealedMakesTheNext) {
  Party(here_).push(1);
  observer_.write("/q/items/100-0000000000", "");
  Party party(here_, "b");
  party.push(1);
  EXPECT_EQ(queue(), (Texts{"1", "b1"}));
  EXPECT_EQ(observer_.children("/q/items").size(), 2u);
}

// While the pusher looks, the last segment is sealed, and the next one is made, filled, sealed and removed. Its number
// may not come again: items there would be taken before those that are already there.
TEST_F(PusherTest, ASegmentThatIsGoneMeanwhileIsNotMadeAgain) {
  Party party(through_proxy_);
  party.push(1);
  observer_.write("/q/items/100-0000000000", "");
  proxy_.fall_silent_after(test::opcode::kExists);
  int looks = 0;
  const test::Script script(party.loop, [&] {
    if (!proxy_.is_silent()) return;
    proxy_.set(FaultProxy::Mode::pass);
    // The first request is for its marker.
    if (++looks == 1) return proxy_.fall_silent_after(test::opcode::kExists);
    if (looks > 2) return;
    for (const char* number : {"1", "2"}) observer_.create(std::string("/q/items/100-000000000") + number);
    observer_.remove("/q/items/100-0000000001");
  });
  party.push(2);
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(observer_.read("/q/items/100-0000000001").code, zk::Code::no_node);
  EXPECT_EQ(queue(), (Texts{"1", "2"}));
}

// The other pusher seals the segment, so that what is in flight fails and is sent again.
TEST_F(PusherTest, AnItemPushedLaterNeverComesToStandBeforeAnEarlierOne) {
  Party a(here_, "a"), b(here_, "b");
  for (int last = 700; last <= 7000; last += 700) {
    a.push(last);
    b.push(last / 2);
  }
  const Texts all = queue();
  EXPECT_EQ(all.size(), 10500u);
  EXPECT_EQ(of(all, 'a'), numbers(7000, "a"));
  EXPECT_EQ(of(all, 'b'), numbers(3500, "b"));
  // b's 350 came between a's 700 and its next.
  EXPECT_LT(std::ranges::find(all, "b350") - all.begin(), std::ranges::find(all, "a701") - all.begin());
}

TEST_F(PusherTest, SeveralThatPushAtOnceKeepTheirOrder) {
  Party a(here_, "a"), b(here_, "b"), c(here_, "c");
  for (bool busy = true; busy;) {
    busy = false;
    for (Party* party : {&a, &b, &c}) {
      party->feed(2500);
      busy |= !party->pusher.is_done() || party->pushed < 2500;
      if (busy) party->turn();
    }
  }
  const Texts all = queue();
  EXPECT_EQ(all.size(), 7500u);
  for (const Party* party : {&a, &b, &c}) EXPECT_EQ(of(all, party->name[0]), numbers(2500, party->name));
  for (const std::string& segment : observer_.children("/q/items")) {
    EXPECT_LT(observer_.children("/q/items/" + segment).size(), 3 * static_cast<size_t>(kSegmentSize));
  }
}

TEST_F(PusherTest, ABatchWhoseAnswerIsLostIsNotThereTwice) {
  Party party(through_proxy_);
  int turns = 0;
  const Script script(party.loop, [&] {
    if (++turns % 3 == 0 && proxy_.lost() < 8) proxy_.lose_next_answer();
  });
  // On a busy machine many batches may go in one turn.
  int last = 0;
  while (proxy_.lost() < 3 && last < 100000) party.push(last += 20000);
  EXPECT_GT(proxy_.lost(), 2);
  EXPECT_EQ(queue(), numbers(last));
  EXPECT_EQ(party.pusher.in(), last);
  EXPECT_TRUE(party.pusher.doubles().empty());
}

TEST_F(PusherTest, ABrokenConnectionLosesNothing) {
  Party party(through_proxy_);
  int turns = 0;
  const Script script(party.loop, [&] {
    if (++turns % 5 == 0 && turns < 50) proxy_.cut();
  });
  party.push(20000);
  EXPECT_EQ(queue(), numbers(20000));
}

TEST_F(PusherTest, AfterAnExpiryItIsSaidWhatMayBeThereTwice) {
  Party party(through_proxy_, "", 500ms);
  party.push(10);
  proxy_.set(FaultProxy::Mode::lose_answers);
  party.feed(20);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return queue().size() == 20; }));
  expire(party);
  party.push(30);
  ASSERT_EQ(party.pusher.doubles().size(), 1u);
  EXPECT_EQ(party.pusher.doubles()[0].first, 11);
  EXPECT_EQ(party.pusher.doubles()[0].last, 20);
  Texts expected = numbers(20);
  for (int i = 11; i <= 30; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(queue(), expected);
}

TEST_F(PusherTest, AnExpiryWithNothingOnItsWayIsNothingToSpeakOf) {
  Party party(through_proxy_, "", 500ms);
  party.push(10);
  expire(party);
  party.push(20);
  EXPECT_TRUE(party.pusher.doubles().empty());
  EXPECT_EQ(queue(), numbers(20));
}

TEST_F(PusherTest, AQueueDeletedOnTheWayIsNotMadeAgain) {
  Party{here_};  // it has made the queue, so its marker is there until it ends
  Party party(here_);
  for (const char* node : {"items/100-0000000000", "items", "dead", "pushing", "waiting"}) {
    observer_.remove(fmt::format("/q/{}", node));
  }
  try {
    party.push(1);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.text(), "cannot push to /q: the queue was deleted meanwhile");
  }
}

void seal(test::Observer& observer, const Segment& segment) {
  zk::Session& session = observer.session();
  EXPECT_EQ(session.await(session.client().transact(steps_to_seal("/q/items", segment))).code, zk::Code::ok);
}

// A waiting consumer does not watch a sealed segment.
TEST_F(PusherTest, NothingComesIntoASegmentThatSomebodyElseHasSealed) {
  Party party(here_);
  party.push(10);
  seal(observer_, Segment{100, 0});
  party.push(20);
  EXPECT_EQ(observer_.children("/q/items/100-0000000000").size(), 10u);
  EXPECT_EQ(queue(), numbers(20));
}

TEST_F(PusherTest, WhatOthersPushFillsASegmentToo) {
  // The sessions are long: b stands still while a pushes, and after a reconnect it would look at the segment.
  Party a(here_, "a", 60s), b(here_, "b", 60s);
  a.push(600);
  b.push(500);  // b has learned of the others
  b.push(501);
  EXPECT_TRUE(is_sealed(observer_.read("/q/items/100-0000000000").stat));
  EXPECT_EQ(observer_.children("/q/items").size(), 2u);
}

TEST_F(PusherTest, WhatWasPushedBeforeFillsASegmentToo) {
  Party(here_, "a").push(600);
  Party(here_, "b").push(500);
  EXPECT_TRUE(is_sealed(observer_.read("/q/items/100-0000000000").stat));
  Party(here_, "c").push(1);
  EXPECT_EQ(observer_.children("/q/items/100-0000000001").size(), 1u);
}

// An item that is given up on keeps its name.
TEST_F(PusherTest, NoTwoItemsOfAQueueHaveTheSameName) {
  Party party(here_);
  party.push(1500);
  seal(observer_, Segment{100, 1});
  party.push(1510);
  std::set<std::string> names;
  for (const std::string& segment : observer_.children("/q/items")) {
    for (const std::string& name : observer_.children("/q/items/" + segment)) names.insert(name);
  }
  EXPECT_EQ(names.size(), 1510u);
}

TEST_F(PusherTest, AMarkerThatSomebodyDeletesEndsThePush) {
  Party party(here_);
  party.push(10);
  for (const std::string& marker : observer_.children("/q/pushing")) observer_.remove("/q/pushing/" + marker);
  EXPECT_THROW(party.push(20), Failure);
  EXPECT_EQ(queue(), numbers(10));
}

TEST_F(PusherTest, WhatWasNotSentIsNotDoubtful) {
  Party party(through_proxy_);
  party.push(10);
  proxy_.cut(true);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return !party.session.connected(); }));
  party.feed(20);
  EXPECT_EQ(party.pusher.unanswered().first, 0);
  proxy_.accept_again();
  party.push(20);
  EXPECT_EQ(queue(), numbers(20));
}

// Its own segment is open, because another client has sealed the one before.
TEST_F(PusherTest, ABatchBehindOneThatFailsFailsToo) {
  Party party(here_);
  party.push(500);
  seal(observer_, Segment{100, 0});
  party.push(1500);
  EXPECT_EQ(queue(), numbers(1500));
}

TEST_F(PusherTest, WhatIsInASegmentDoesNotFillTheNext) {
  Party party(here_);
  party.push(1000);
  party.push(1500);
  EXPECT_FALSE(is_sealed(observer_.read("/q/items/100-0000000001").stat));
}

TEST_F(PusherTest, ABatchWaitsForThoseBeforeItThatWereNotSent) {
  Party party(through_proxy_);
  party.push(10);
  proxy_.cut(true);
  ASSERT_TRUE(test::eventually(party.loop, [&] { return !party.session.connected(); }));
  party.feed(20);
  proxy_.accept_again();
  ASSERT_TRUE(test::eventually(party.loop, [&] { return party.session.connected(); }));
  party.push(30);
  EXPECT_EQ(queue(), numbers(30));
}

TEST_F(PusherTest, WhatIsNotAnsweredYetIsDoubtful) {
  Party party(through_proxy_);
  party.push(10);
  proxy_.set(FaultProxy::Mode::lose_answers);
  party.feed(20);
  EXPECT_EQ(party.pusher.unanswered().first, 11);
  EXPECT_EQ(party.pusher.unanswered().last, 20);
}

TEST_F(PusherTest, ConnectionsThatAreLostBehindABatchAreNotLostInVain) {
  Party party(through_proxy_);
  for (int last = 1; last <= 25; ++last) {
    proxy_.lose_answer_to(test::opcode::kTransaction);
    party.push(last);
  }
  EXPECT_EQ(proxy_.lost(), 25);
  EXPECT_EQ(queue(), numbers(25));
}

// Another client made a node of the name that the server gives next. With the same token, the push would always fail.
TEST_F(PusherTest, AnItemWhoseNameIsTakenGetsAnother) {
  Party party(here_);
  party.push(1);
  const std::string first =
      item_paths("/q/items/100-0000000000", observer_.children("/q/items/100-0000000000")).front();
  const std::string token = first.substr(0, first.size() - 10);
  // Making it takes that number, so the next two are taken too.
  for (int number = 2; number < 5; ++number) {
    observer_.create(fmt::format("{}{:010}", token, number), "in the way");
  }
  party.push(3);
  EXPECT_TRUE(party.pusher.is_done());
  EXPECT_EQ(party.pusher.in(), 3);
  const Texts texts = queue();
  for (const char* text : {"1", "2", "3"}) EXPECT_EQ(std::ranges::count(texts, text), 1) << text;
}

// Batches were done in a session before.
TEST_F(PusherTest, ABatchOfANewSessionWhoseAnswerIsLostIsTheFirstOfItsMarker) {
  Party party(through_proxy_, "", 60s);
  for (const int last : {5, 10, 15}) party.push(last);
  const int sessions = proxy_.new_sessions();
  proxy_.expire_resumed(true);
  proxy_.cut();
  const Script script(party.loop, [&] {
    if (proxy_.new_sessions() == sessions || proxy_.lost() == 3) return;
    proxy_.expire_resumed(false);
    proxy_.lose_answer_to(test::opcode::kTransaction);
  });
  party.push(20);
  EXPECT_GT(proxy_.lost(), 0);
  EXPECT_EQ(queue(), numbers(20));
}

// It happens more often than one batch may be overtaken.
TEST_F(PusherTest, OthersThatAreFasterDoNotAddUp) {
  constexpr int kBadVersion = -103;
  Party party(through_proxy_, "", 60s);
  for (int last = 1; last <= 1010; ++last) {
    proxy_.answer_with(test::opcode::kTransaction, kBadVersion);
    party.push(last);
  }
  EXPECT_EQ(party.pusher.in(), 1010);
}

}  // namespace pusher_test
}  // namespace zklock::recipe
