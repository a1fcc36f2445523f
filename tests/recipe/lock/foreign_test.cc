// SPDX-License-Identifier: Apache-2.0
// recipe/lock beside nodes of programs that would not wait for zklock.
#include "recipe/lock/lock.h"
#include "recipe/lock/lock_set.h"
#include "recipe/lock/slots.h"
#include "support/party.h"
#include "support/proxied.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace foreign_test {

using namespace std::chrono_literals;
using test::Party;

constexpr const char* kLatch = "/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-latch-";

class ForeignTest : public test::Proxied {
 protected:
  void stand(const std::string& stem) {
    zk::Session& other = observer_.session();
    const zk::Call made = other.client().create(stem, "", zk::CreateMode::ephemeral_sequential);
    ASSERT_EQ(other.await(made).code, zk::Code::ok);
  }
  static test::MakeLocks lock() {
    return [](zk::Session& with, WaitObserver& told) {
      return test::locks_of(std::make_unique<Lock>(with, "/l", LockType(), "data", told));
    };
  }
  static test::MakeLocks slots() {
    return [](zk::Session& with, WaitObserver& told) {
      const auto slots_in = [](const std::string&) { return int64_t{0}; };
      return test::locks_of(std::make_unique<Slots>(with, "/l", 2, slots_in, "2", told));
    };
  }
  // Returns the message of the refusal; empty if there was none.
  std::string refusal(const test::MakeLocks& make, Duration patience = 0s) {
    Party party(here_, 4s, make);
    try {
      party.acquire(patience);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::bad_data);
      return failure.text();
    }
    return "";
  }
};

TEST_F(ForeignTest, ALatchOfCuratorsIsRefusedByItsName) {
  observer_.create("/l");
  stand(kLatch);
  for (const auto& make : {lock(), slots()}) {
    for (const Duration patience : {0s, 20s}) {
      EXPECT_NE(refusal(make, patience).find("belongs to Curator's LeaderLatch"), std::string::npos);
    }
  }
  EXPECT_EQ(observer_.children("/l").size(), 1u) << "a node of ours was left";
}

TEST_F(ForeignTest, AProgramThatIsNotKnownIsRefused) {
  for (const char* stem : {"/l/x-web1-", "/l/member_", "/l/lock-", "/l/"}) {
    observer_.create("/l");
    stand(stem);
    EXPECT_NE(refusal(lock()).find("a program that zklock does not know"), std::string::npos) << stem;
    observer_.remove("/l/" + observer_.children("/l").front());
    observer_.remove("/l");
  }
}

// After a short wait behind one alone, the line is not listed again (Lock::is_next). So the wait is longer than T/6.
TEST_F(ForeignTest, WhoWaitsIsRefusedWhenOneComes) {
  Party holder(here_, 4s, lock());
  holder.acquire();
  Party waiter(here_, 1s, lock());
  bool came = false;
  Deadline release_at = kNever;
  const test::Script script(waiter.loop, [&] {
    if (!came && observer_.children("/l").size() == 2) {
      came = true;
      stand(kLatch);
      release_at = deadline_in(waiter.session.timeout());
    }
    if (BootClock::now() < release_at) return;
    release_at = kNever;
    holder.lock.release(20s);
  });
  EXPECT_THROW(waiter.acquire(), Failure);
  EXPECT_EQ(observer_.children("/l").size(), 1u);
}

TEST_F(ForeignTest, NodesThatStayAreOnlyCalledSo) {
  observer_.create("/l");
  for (int i = 0; i < 300; ++i) observer_.create(fmt::format("/l/job-{:010}", i));
  EXPECT_EQ(refusal(lock()), "");
  observer_.create("/l/_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60-latch-0000000007");
  EXPECT_EQ(refusal(lock()), "");
  EXPECT_EQ(refusal(slots()), "");
}

}  // namespace foreign_test
}  // namespace zklock::recipe
