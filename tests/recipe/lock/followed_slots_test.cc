// SPDX-License-Identifier: Apache-2.0
// Slots that change hands while a client that follows them looks.
#include "recipe/lock/watched_lock.h"
#include "support/sandbox.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace followed_slots_test {

using namespace std::chrono_literals;
using test::Script;

class FollowedSlots : public testing::Test {
 protected:
  std::string make(const std::string& stem) { return make(observer_, stem); }

  static std::string make(test::Observer& owner, const std::string& stem) {
    zk::Session& other = owner.session();
    const zk::Call made = other.client().create(stem, "", zk::CreateMode::ephemeral_sequential);
    const zk::Answer answer = other.await(made);
    EXPECT_EQ(answer.code, zk::Code::ok);
    return answer.path;
  }

  static auto holders_of(const WatchedLock& lock) {
    return std::ranges::count_if(lock.standings(), &Participant::holding, &Standing::who);
  }

  static bool is_told_of(const WatchedLock& lock, test::Observer& owner) {
    return std::ranges::any_of(
        lock.standings(), [&](const Standing& one) { return one.who.stat.ephemeral_owner == owner.session().id(); });
  }

  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Observer observer_{here_};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_)};
};

// The contender comes at each moment of the look: before the gate is listed, between the two lists, and after.
TEST_F(FollowedSlots, WhoHasASlotAndHasNotLeftTheGateHoldsNothing) {
  session_.open();
  for (uint64_t answer = 0; answer < 12; ++answer) {
    const std::string path = fmt::format("/s{}", answer);
    for (const char* folder : {"/locks", "/leases"}) observer_.create(path + folder);
    const uint64_t before = session_.client().answers();
    bool came = false;
    const Script script(loop_, [&] {
      if (session_.client().answers() < before + answer || std::exchange(came, true)) return;
      make(path + "/locks/_c_01234567-89ab-4def-8123-456789abcdef-lock-");
      make(path + "/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-");
    });
    WatchedLock lock(session_, path, "cannot follow " + path);
    lock.look();
    for (const Standing& one : lock.standings()) EXPECT_FALSE(one.who.holding) << "behind answer " << answer;
  }
}

// The contender gets a slot and leaves the gate at each moment of a look that finds it new. So it also happens when its
// node in the gate was listed and is not read yet.
TEST_F(FollowedSlots, WhoGetsASlotWhileHeIsLookedAtIsNotOneTooMany) {
  session_.open();
  test::Observer holders(here_);
  for (uint64_t answer = 0; answer < 12; ++answer) {
    const std::string path = fmt::format("/t{}", answer);
    for (const char* folder : {"/locks", "/leases"}) observer_.create(path + folder);
    const std::string ends = make(holders, path + "/leases/_c_11234567-89ab-4def-8123-456789abcdef-lease-");
    make(holders, path + "/leases/_c_21234567-89ab-4def-8123-456789abcdef-lease-");
    WatchedLock lock(session_, path, "cannot follow " + path);
    lock.look();
    const std::string gate = make(path + "/locks/_c_01234567-89ab-4def-8123-456789abcdef-lock-");
    make(path + "/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-");
    // Another contender comes next: the gate has changed since the first one has a slot.
    make(holders, path + "/locks/_c_31234567-89ab-4def-8123-456789abcdef-lock-");
    ASSERT_TRUE(test::eventually(loop_, [&] { return lock.is_stale(); }));
    const uint64_t before = session_.client().answers();
    bool passed = false;
    const auto pass = [&] {
      if (std::exchange(passed, true)) return;
      observer_.remove(ends);
      observer_.remove(gate);
    };
    const Script script(loop_, [&] {
      if (session_.client().answers() >= before + answer) pass();
    });
    const auto settled = [&] {
      if (lock.is_stale()) {
        lock.look();
      }
      EXPECT_LE(holders_of(lock), 2) << "behind answer " << answer;
      return lock.standings().size() == 3 && holders_of(lock) == 2;
    };
    settled();
    pass();
    EXPECT_TRUE(test::eventually(loop_, settled));
  }
}

// Another contender enters the gate after it, and is gone at each moment of the look. So it also happens when the node
// was listed and is not read yet.
TEST_F(FollowedSlots, WhoHasPassedTheGateHasNotLeftThoughTheNextOneThereIsGone) {
  session_.open();
  test::Observer next(here_);
  for (uint64_t answer = 0; answer < 12; ++answer) {
    const std::string path = fmt::format("/u{}", answer);
    for (const char* folder : {"/locks", "/leases"}) observer_.create(path + folder);
    const std::string gate = make(path + "/locks/_c_01234567-89ab-4def-8123-456789abcdef-lock-");
    WatchedLock lock(session_, path, "cannot follow " + path);
    lock.look();
    ASSERT_TRUE(is_told_of(lock, observer_));
    make(path + "/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-");
    observer_.remove(gate);
    const std::string second = make(next, path + "/locks/_c_31234567-89ab-4def-8123-456789abcdef-lock-");
    ASSERT_TRUE(test::eventually(loop_, [&] { return lock.is_stale(); }));
    const uint64_t before = session_.client().answers();
    bool gone = false;
    const Script script(loop_, [&] {
      if (session_.client().answers() >= before + answer && !std::exchange(gone, true)) observer_.remove(second);
    });
    lock.look();
    EXPECT_TRUE(is_told_of(lock, observer_)) << "behind answer " << answer;
    const auto holds = [&] {
      if (lock.is_stale()) {
        lock.look();
      }
      return holders_of(lock) == 1;
    };
    EXPECT_TRUE(test::eventually(loop_, holds));
  }
}

// The folders go while zklock has no session, and come again in its next one: their old watches are useless.
TEST_F(FollowedSlots, FoldersThatGoBetweenTwoSessionsAreWatchedAgain) {
  session_.open();
  for (const char* folder : {"/s/locks", "/s/leases"}) observer_.create(folder);
  WatchedLock lock(session_, "/s", "cannot follow /s");
  lock.look();
  session_.close();
  for (const char* folder : {"/s/locks", "/s/leases"}) observer_.remove(folder);
  session_.open();
  lock.look();
  for (const char* folder : {"/s/locks", "/s/leases"}) observer_.create(folder);
  EXPECT_TRUE(test::eventually(loop_, [&] { return lock.is_stale(); }));
  lock.look();
  make("/s/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-");
  EXPECT_TRUE(test::eventually(loop_, [&] {
    if (lock.is_stale()) lock.look();
    return holders_of(lock) == 1;
  }));
}

}  // namespace followed_slots_test
}  // namespace zklock::recipe
