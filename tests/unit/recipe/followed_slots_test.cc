// SPDX-License-Identifier: Apache-2.0
// Slots that change hands while somebody who follows them looks.
#include "recipe/lock/watched_lock.h"
#include "support/sandbox.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace {

using namespace std::chrono_literals;
using test::Script;

class FollowedSlots : public testing::Test {
 protected:
  void make(const std::string& stem) {
    zk::Session& other = observer_.session();
    const zk::Call made = other.client().create(stem, "", zk::CreateMode::ephemeral_sequential);
    ASSERT_EQ(other.await(made, deadline_in(20s)).code, zk::Code::ok);
  }

  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Observer observer_{here_};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_)};
};

// He comes at each moment of the look: before the gate is listed, between that and the list of the slots, and after.
TEST_F(FollowedSlots, WhoHasASlotAndHasNotLeftTheGateHoldsNothing) {
  session_.open(deadline_in(20s));
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
    ASSERT_TRUE(lock.look(deadline_in(20s)));
    for (const Participant& one : lock.participants()) EXPECT_FALSE(one.holding) << "behind answer " << answer;
  }
}

}  // namespace
}  // namespace zklock::recipe
