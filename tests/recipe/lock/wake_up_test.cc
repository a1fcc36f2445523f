// SPDX-License-Identifier: Apache-2.0
// Waiters whose watches or events are lost.
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "recipe/lock/watched_lock.h"
#include "recipe/watched_node.h"
#include "support/party.h"
#include "support/proxied.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace wake_up_test {

using namespace std::chrono_literals;
using test::Party;
using test::Script;
namespace opcode = test::opcode;

test::MakeLocks lock_at(const std::string& path) {
  return [path](zk::Session& with, WaitObserver& told) {
    return test::locks_of(std::make_unique<Lock>(with, path, LockType(), "data", told));
  };
}

test::MakeLocks any_of(const std::vector<std::string>& paths) {
  return [paths](zk::Session& with, WaitObserver& told) {
    AnyLock::Locks lines;
    for (const std::string& path : paths) {
      lines.push_back(std::make_unique<Lock>(with, path, LockType(), "data", told));
    }
    return test::locks_of(std::make_unique<AnyLock>(with, std::move(lines), told));
  };
}

test::Locks one_slot(zk::Session& with, WaitObserver& told) {
  return test::locks_of(std::make_unique<Slots>(
      with, "/s", 1, [](const std::string&) { return 1; }, "data", told));
}

class WakeUp : public test::Proxied {
 protected:
  // The waiter gets no event while it stands after the holder; it looks again by itself.
  void expect_held_unwoken(const test::MakeLocks& make, const std::string& line) {
    Party holder(here_, 30s, make);
    ASSERT_EQ(holder.acquire(), Outcome::held);
    Party waiter(through_proxy_, 500ms, make);
    proxy_.swallow_events();
    bool released = false;
    const Script script(waiter.loop, [&] {
      const bool rests = waiter.session.client().silent_since() == kNever && observer_.children(line).size() == 2;
      if (released || !rests || ++rests_ < 5) return;
      released = true;
      holder.lock.release(20s);
    });
    EXPECT_EQ(waiter.acquire(), Outcome::held);
    EXPECT_TRUE(released);
  }

  int rests_ = 0;  // turns in which nothing was under way
};

TEST_F(WakeUp, ThatIsLostDelaysAWaiterForAWhileOnly) {
  expect_held_unwoken(lock_at("/l"), "/l");
}

TEST_F(WakeUp, ThatIsLostDelaysAWaiterForASlotForAWhileOnly) {
  expect_held_unwoken(one_slot, "/s/leases");
}

TEST_F(WakeUp, ThatIsLostDelaysAWaiterForAnyForAWhileOnly) {
  Party other(here_, 30s, lock_at("/b"));
  other.acquire();
  expect_held_unwoken(any_of({"/a", "/b"}), "/a");
}

// The answers to both reads are lost, and their watches with them.
TEST_F(WakeUp, WatchesOfAWaiterThatAreLostAreSetAgain) {
  Party holder(here_, 30s, lock_at("/l"));
  holder.acquire();
  Party waiter(through_proxy_, 20s, lock_at("/l"));
  proxy_.lose_answer_to(opcode::kRead);
  bool removed = false;
  const Script script(waiter.loop, [&] {
    const zk::Client& client = waiter.session.client();
    if (removed || proxy_.lost() == 0 || client.connections() != 2 || client.silent_since() != kNever) return;
    if (++rests_ < 5) return;
    removed = true;
    observer_.remove("/l/" + line_of(observer_.children("/l")).back().name);
  });
  EXPECT_EQ(waiter.acquire(), Outcome::removed);
}

// Any client may have written it; looking again and again would show nothing new.
TEST_F(WakeUp, AnotherTextOnOurNodeWakesUsOnce) {
  Party holder(here_, 30s, lock_at("/l"));
  holder.acquire();
  Party waiter(here_, 30s, lock_at("/l"));
  Deadline release_at = kNever;
  uint64_t answers = 0;
  const Script script(waiter.loop, [&] {
    const zk::Client& client = waiter.session.client();
    if (release_at == kNever && client.silent_since() == kNever && observer_.children("/l").size() == 2) {
      if (++rests_ < 5) return;
      answers = client.answers();
      observer_.write("/l/" + line_of(observer_.children("/l")).back().name, "text");
      release_at = deadline_in(300ms);
    }
    if (BootClock::now() < release_at) return;
    release_at = deadline_in(20s);
    answers = client.answers() - answers;
    holder.lock.release(20s);
  });
  EXPECT_EQ(waiter.acquire(), Outcome::held);
  EXPECT_LT(answers, 12u);
}

// What shows a waiter its turn: Lock::is_next.
class HandOver : public test::Proxied {
 protected:
  void SetUp() override { ASSERT_EQ(holder_.acquire(), Outcome::held); }

  // Waits behind all that stand in line. Once all watches are set, calls `step` in each turn until it returns true.
  // Returns how often the waiter has listed or checked from then on.
  int looks_after(const std::function<bool()>& step) {
    bool done = false;
    int before = 0;
    const Script script(waiter_.loop, [&] {
      const zk::Client& client = waiter_.session.client();
      if (done || client.silent_since() != kNever || proxy_.requests(opcode::kRead) < 2) return;
      if (++rests_ < 5) return;
      if (rests_ == 5) before = looks();
      done = step();
    });
    EXPECT_EQ(waiter_.acquire(), Outcome::held);
    EXPECT_TRUE(done) << "held beside another one";
    return looks() - before;
  }
  int looks() const { return proxy_.requests(opcode::kChildren) + proxy_.requests(opcode::kTransaction); }
  bool release() {
    holder_.lock.release(20s);
    return true;
  }

  int rests_ = 0;  // turns in which nothing was under way
  Party holder_{here_, 30s, lock_at("/l")};
  Party waiter_{through_proxy_, 20s, lock_at("/l")};
};

TEST_F(HandOver, ByTheOnlyOneBeforeUsNeedsNoList) {
  EXPECT_EQ(looks_after([&] { return release(); }), 0);
  EXPECT_FALSE(waiter_.held().watch->fired);
}

TEST_F(HandOver, ByAWaiterThatGivesUpIsNone) {
  Party middle(here_, 30s, lock_at("/l"));
  Lock leaving(middle.session, "/l", {}, "data", middle.observer);
  ASSERT_FALSE(leaving.enter());
  bool left = false;
  const auto step = [&] {
    if (!std::exchange(left, true)) leaving.release(20s);
    return rests_ >= 20 && release();
  };
  EXPECT_EQ(looks_after(step), 1) << "the list that shows the holder; after it, the holder alone is before us";
}

TEST_F(HandOver, IsNoChangeOfItsData) {
  bool written = false;
  const auto step = [&] {
    if (!std::exchange(written, true)) observer_.write(holder_.held().node, "text");
    return rests_ >= 20 && release();
  };
  EXPECT_EQ(looks_after(step), 1);
}

TEST_F(HandOver, ThroughAnotherConnectionNeedsAList) {
  bool cut = false;
  const auto step = [&] {
    if (!std::exchange(cut, true)) proxy_.cut();
    return rests_ >= 20 && waiter_.session.client().connections() == 2 && release();
  };
  EXPECT_EQ(looks_after(step), 1);
}

TEST_F(HandOver, WithAnEventOfOurNodeNeedsAList) {
  const auto step = [&] {
    const std::vector<Contender> line = line_of(observer_.children("/l"));
    observer_.write("/l/" + line.back().name, "text");
    return release();
  };
  EXPECT_GT(looks_after(step), 0);
}

class HandOverOfARecord : public HandOver {
 protected:
  HandOverOfARecord() {
    waiter_lock_.set_besides({[](zk::Client& client) { return client.read("/l.last"); }});
  }

  Lock waiter_lock_{waiter_.session, "/l", {}, "data", waiter_.observer};
};

// Without the list, the library would not tell another server how much it has seen.
TEST_F(HandOverOfARecord, NeedsAList) {
  int before = 0;
  bool released = false;
  const Script script(waiter_.loop, [&] {
    const zk::Client& client = waiter_.session.client();
    // The reads are: the record, the one before us, our own node.
    if (released || client.silent_since() != kNever || proxy_.requests(opcode::kRead) < 3) return;
    if (++rests_ < 5) return;
    before = looks();
    released = release();
  });
  EXPECT_EQ(waiter_lock_.acquire({true, deadline_in(20s)}), Outcome::held);
  EXPECT_EQ(looks() - before, 1);
}

class WatchedNodeTest : public test::Proxied {
 protected:
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(through_proxy_)};
};

// A server in another session must not take back what was seen.
TEST_F(WatchedNodeTest, EachSessionIsSyncedOnce) {
  session_.open();
  WatchedNode node(session_, "/n", Aspect::children, "cannot watch /n");
  for (int session = 1; session <= 2; ++session) {
    node.look();
    node.look();
    EXPECT_EQ(proxy_.requests(opcode::kSync), session);
    session_.open();
  }
}

// Servers from 3.8.4 on send no event about a node that we may not read.
TEST_F(WatchedNodeTest, OneThatNoServerTellsOfIsFoundByLookingAgain) {
  session_.open();
  proxy_.swallow_events();
  for (const Aspect aspect : {Aspect::stat, Aspect::data, Aspect::children}) {
    const std::string path = "/n" + std::to_string(static_cast<int>(aspect));
    WatchedNode node(session_, path, aspect, "cannot watch " + path);
    node.look();
    observer_.create(path);
    EXPECT_TRUE(test::eventually(loop_, [&] {
      if (left_until(std::min(node.due(), node.again())) == Duration::zero()) node.look();
      return node.exists();
    }));
  }
}

TEST_F(WatchedNodeTest, OneThatComesBetweenListAndWatchIsListed) {
  session_.open();
  WatchedNode node(session_, "/n", Aspect::children, "cannot watch /n");
  const uint64_t answers = session_.client().answers();
  bool made = false;
  const Script script(loop_, [&] {
    // The requests are: sync, list.
    if (session_.client().answers() < answers + 2 || std::exchange(made, true)) return;
    observer_.create("/n/child");
  });
  node.look();
  EXPECT_TRUE(made);
  EXPECT_EQ(node.found().names, std::vector<std::string>{"child"});
}

TEST_F(WatchedNodeTest, ALockThatWasLookedAtInAnotherSessionIsStale) {
  session_.open();
  WatchedLock lock(session_, "/l", "cannot follow /l");
  EXPECT_TRUE(lock.is_stale());
  lock.look();
  EXPECT_FALSE(lock.is_stale());
  session_.open();
  EXPECT_TRUE(lock.is_stale());
}

}  // namespace wake_up_test
}  // namespace zklock::recipe
