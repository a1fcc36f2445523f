// SPDX-License-Identifier: Apache-2.0
// command/child/attended_command: what is said of a command that was ended, or not begun.
#include "command/child/attended_command.h"

#include "recipe/lock/lock.h"
#include "support/party.h"

#include <gtest/gtest.h>

namespace zklock::command {
namespace {

using namespace std::chrono_literals;

TEST(GuardTrouble, CommandThatOutlivedTheFenceIsNotSaidToHaveBeenStopped) {
  EXPECT_EQ(end_of("the command", 0s), "the command was stopped");
  EXPECT_EQ(end_of("the command", 20ms), "the command was stopped");  // the time it takes to die
  EXPECT_EQ(end_of("the command", 300ms), "the command went on for 300ms past the fence");
  EXPECT_EQ(end_of("what ran", 2900ms), "what ran went on for 2.9s past the fence");
}

class UnderALock : public testing::Test {
 protected:
  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Party holder_{here_, 4s, [](zk::Session& with, recipe::WaitObserver& told) {
                        return test::locks_of(std::make_unique<recipe::Lock>(with, "/l", recipe::LockType(), "", told));
                      }};
};

// Between the grant and the command there is a request with --once-per, and zklock may be stopped.
TEST_F(UnderALock, ACommandThatHasLostItAlreadyIsNotStarted) {
  ASSERT_EQ(holder_.acquire(), recipe::Outcome::held);
  recipe::Lease lease(holder_.session, holder_.lock.held(), 100ms);
  const host::Attached holding(holder_.loop, lease);
  test::Observer(here_).remove(holder_.held().node);
  ASSERT_TRUE(test::eventually(holder_.loop, [&] { return lease.state() == recipe::LeaseState::node_deleted; }));

  const host::Inherited inherited = host::Inherited::take_over();
  host::Guard guard(host::Service::once, host::Program::find({"/bin/sh", "-c", "exit 7"}), inherited);
  host::Signals signals;
  Console console(holder_.session);
  AttendedCommand command(signals, guard, console, {"its lock", 100ms, &lease});
  command.attend(holder_.loop, {});
  EXPECT_EQ(guard.phase(), host::CommandPhase::idle);
  ASSERT_TRUE(command.is_over() && command.lost());
  EXPECT_STREQ(command.loss("/l").what(), "lost /l: its node was deleted; the command was not started");
}

}  // namespace
}  // namespace zklock::command
