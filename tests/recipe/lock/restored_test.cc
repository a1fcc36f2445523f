// SPDX-License-Identifier: Apache-2.0
// recipe/lock on trees restored from a backup: the nodes of contenders and slots belong to no session, so they stay.
// Clients that do not wait, waiters and observers must agree about them.
#include "recipe/lock/lock.h"
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "recipe/lock/survey.h"
#include "support/party.h"
#include "support/proxied.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace restored_test {

using namespace std::chrono_literals;

constexpr const char* kId = "_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60";

class RestoredTest : public test::Proxied {
 protected:
  class Party : public test::Party {
   public:
    Party(const std::string& servers, LockType type = {})
        : test::Party(servers, 4s, [type](zk::Session& with, WaitObserver& told) {
            return test::locks_of(std::make_unique<Lock>(with, "/l", type, "data", told));
          }) {}
  };
  class SlotParty : public test::Party {
   public:
    explicit SlotParty(const std::string& servers)
        : test::Party(servers, 4s, [](zk::Session& with, WaitObserver& told) {
            const auto slots_in = [](const std::string& data) { return std::atoll(data.c_str()); };
            return test::locks_of(std::make_unique<Slots>(with, "/s", 2, slots_in, "2", told));
          }) {}
  };

  void restore(const std::string& stem, int count) {
    for (int i = 0; i < count; ++i) observer_.create(fmt::format("{}{:010}", stem, i), "3");
  }
  Survey survey(const std::string& path) { return survey_paths(observer_.session(), {path}).front(); }
};

TEST_F(RestoredTest, ALockIsFreeForWhoDoesNotWait) {
  observer_.create("/l");
  restore(std::string("/l/") + kId + "-lock-", 3);
  const Survey seen = survey("/l");
  EXPECT_EQ(seen.holders().size(), 0u);
  EXPECT_EQ(seen.leftovers.size(), 3u);
  for (const LockMode mode : {LockMode::exclusive, LockMode::shared}) {
    EXPECT_EQ(Party(here_, {mode}).acquire(0s), Outcome::held);
    EXPECT_EQ(Party(here_, {mode}).acquire(), Outcome::held);
  }
}

TEST_F(RestoredTest, OfAnotherFamilyToo) {
  observer_.create("/l");
  restore(std::string("/l/") + kId + "-__WRIT__", 2);
  EXPECT_EQ(Party(here_).acquire(0s), Outcome::held);
}

TEST_F(RestoredTest, OneThatIsHeldIsBusyAndItsHolderIsNamed) {
  observer_.create("/l");
  restore(std::string("/l/") + kId + "-lock-", 3);
  Party holder(here_);
  EXPECT_EQ(holder.acquire(0s), Outcome::held);
  restore(std::string("/l/") + "_c_1f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-", 9);
  Party other(here_);
  EXPECT_EQ(other.acquire(0s), Outcome::busy);
  EXPECT_EQ(other.lock.holder().data, "data");
  EXPECT_EQ(other.acquire_within(300ms), Outcome::busy);
  EXPECT_EQ(other.lock.holder().data, "data");
  EXPECT_EQ(other.lock.holder().before, 1u);
}

TEST_F(RestoredTest, AnyOfSeveralIsFree) {
  for (const char* path : {"/a", "/b"}) {
    observer_.create(path);
    restore(std::string(path) + "/" + kId + "-lock-", 2);
  }
  test::Party party(here_, 4s, [](zk::Session& with, WaitObserver& told) {
    std::vector<std::unique_ptr<Lock>> locks;
    for (const char* path : {"/a", "/b"}) locks.push_back(std::make_unique<Lock>(with, path, LockType(), "", told));
    return test::locks_of(std::make_unique<AnyLock>(with, std::move(locks), told));
  });
  EXPECT_EQ(party.acquire(0s), Outcome::held);
}

TEST_F(RestoredTest, SlotsAreFree) {
  for (const char* path : {"/s", "/s/locks", "/s/leases"}) observer_.create(path);
  restore(std::string("/s/leases/") + kId + "-lease-", 5);
  restore(std::string("/s/locks/") + kId + "-lock-", 5);
  const Survey seen = survey("/s");
  EXPECT_EQ(seen.holders().size(), 0u);
  EXPECT_EQ(seen.leftovers.size(), 10u);
  SlotParty a(here_), b(here_), c(here_);
  EXPECT_EQ(a.acquire(0s), Outcome::held);
  EXPECT_EQ(b.acquire(), Outcome::held);
  EXPECT_EQ(c.acquire(0s), Outcome::busy);
  EXPECT_EQ(c.lock.holder().data, "2");
  a.lock.release(20s);
  EXPECT_EQ(c.acquire(0s), Outcome::held);
}

TEST_F(RestoredTest, SlotsAreFreeForWhoWaitsForAShortTime) {
  for (const char* path : {"/s", "/s/locks", "/s/leases"}) observer_.create(path);
  restore(std::string("/s/leases/") + kId + "-lease-", 5);
  EXPECT_EQ(SlotParty(here_).acquire_within(600ms), Outcome::held);
}

TEST_F(RestoredTest, SlotsAreFreeThoughSomebodyIsAtTheGate) {
  for (const char* path : {"/s", "/s/locks", "/s/leases"}) observer_.create(path);
  restore(std::string("/s/leases/") + kId + "-lease-", 1);
  zk::Session& session = observer_.session();
  const std::string before =
      session
          .await(session.client().create("/s/locks/_c_1f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-lock-", "2",
                                         zk::CreateMode::ephemeral_sequential))
          .path;
  SlotParty party(here_);
  // Removes it a while after we stand in line after it.
  const test::Script script(party.loop, [&, at = kNever, gone = false]() mutable {
    if (at == kNever && observer_.children("/s/locks").size() == 2) at = deadline_in(300ms);
    if (gone || BootClock::now() < at) return;
    observer_.remove(before);
    gone = true;
  });
  EXPECT_EQ(party.acquire(0s), Outcome::held);
}

TEST_F(RestoredTest, APathMayBeUsedForSomethingElseNow) {
  for (const char* path : {"/l", "/l/locks", "/l/leases", "/s"}) observer_.create(path);
  restore(std::string("/l/leases/") + kId + "-lease-", 2);
  restore(std::string("/s/") + kId + "-lock-", 2);
  EXPECT_EQ(Party(here_).acquire(0s), Outcome::held);
  EXPECT_EQ(SlotParty(here_).acquire(0s), Outcome::held);
}

}  // namespace restored_test
}  // namespace zklock::recipe
