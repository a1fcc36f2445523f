// SPDX-License-Identifier: Apache-2.0
// command/child/attended_command: when a command has lost its lock, and what is reported if it was ended or never
// begun.
#include "command/child/attended_command.h"

#include "recipe/lock/lock.h"
#include "support/party.h"
#include "support/process.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace zklock::command {
namespace attended_command_test {

using namespace std::chrono_literals;

TEST(GuardTrouble, CommandThatOutlivedTheFenceIsNotSaidToHaveBeenStopped) {
  EXPECT_EQ(end_of("the command", 0s), "the command was stopped");
  EXPECT_EQ(end_of("the command", 20ms), "the command was stopped");  // the time it takes to die
  EXPECT_EQ(end_of("the command", 300ms), "the command went on for 300ms past the fence");
  EXPECT_EQ(end_of("what ran", 2900ms), "what ran went on for 2.9s past the fence");
}

// Holds /l and has a guard, like a zklock before its command starts.
struct Holding {
  explicit Holding(Duration session_timeout)
      : guard(host::Service::once, host::Program::find({"sleep", "300"}), inherited),
        party(test::shared_servers() + test::new_chroot(), session_timeout, [](zk::Session& with, auto& told) {
          return test::locks_of(std::make_unique<recipe::Lock>(with, "/l", recipe::LockType(), "data", told));
        }) {
    if (party.acquire() != recipe::Outcome::held) throw std::runtime_error("it has no lock");
  }

  host::Inherited inherited = host::Inherited::take_over();
  host::Signals signals;
  host::Guard guard;  // it must start before there is a session
  test::Party party;
};

// One turn of the loop may bring both: the guard's end at the old fence, and the proof that moves the fence on.
ISOLATED_TEST(AttendedCommand, ThatTheGuardHasEndedAtTheFenceIsLostThoughTheLeaseHolds) {
  Holding held(20s);
  test::Party& party = held.party;
  host::Guard& guard = held.guard;
  recipe::Lease lease(held.party.session, held.party.lock.held(), 0s);
  Console console(held.party.session);
  AttendedCommand command(held.signals, guard, console, {"its lock", 0s, &lease});
  const host::Attached guarding(party.loop, guard), holding(party.loop, lease);
  command.start({});
  ASSERT_TRUE(test::eventually(party.loop, [&] { return guard.phase() == host::CommandPhase::running; }));
  guard.set_fence(BootClock::now());
  ASSERT_TRUE(test::eventually(party.loop, [&] { return guard.gone(); }));
  const host::Attached attending(party.loop, command);
  EXPECT_THROW(test::eventually(party.loop, [&] { return command.is_over(); }), Failure);
  EXPECT_EQ(lease.state(), recipe::LeaseState::held);
  EXPECT_TRUE(command.is_over());
  EXPECT_TRUE(command.unproved());
  const auto lost = support::failure_of([&] { command.status("/l"); });
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->status(), ExitStatus::lost);
}

// zklock may be frozen right after its order to start.
ISOLATED_TEST(AttendedCommand, EndsAtTheFenceThoughZklockDoesNothingSinceItsStart) {
  Holding held(1s);
  host::Guard& guard = held.guard;
  recipe::Lease lease(held.party.session, held.party.lock.held(), 0s);
  Console console(held.party.session);
  AttendedCommand command(held.signals, guard, console, {"its lock", 0s, &lease});
  command.start({});
  EXPECT_TRUE(support::wait_until([&] { return guard.phase() == host::CommandPhase::gone; }));
  EXPECT_TRUE(guard.fenced());
}

// With --once-per there is a request between the grant and the command, and zklock may be stopped then.
ISOLATED_TEST(AttendedCommand, IsNotStartedWhereItsLockIsLostAlready) {
  Holding held(4s);
  recipe::Lease lease(held.party.session, held.party.lock.held(), 0s);
  const host::Attached holding(held.party.loop, lease);
  held.party.session.await(held.party.session.client().remove(held.party.held().node));
  ASSERT_TRUE(test::eventually(held.party.loop, [&] { return lease.state() == recipe::LeaseState::node_deleted; }));
  Console console(held.party.session);
  AttendedCommand command(held.signals, held.guard, console, {"its lock", 0s, &lease});
  command.attend(held.party.loop, {});
  EXPECT_EQ(held.guard.phase(), host::CommandPhase::idle);
  ASSERT_TRUE(command.is_over() && command.lost());
  EXPECT_STREQ(command.loss("/l").what(), "lost /l: its node was deleted; the command was not started");
}

}  // namespace attended_command_test
}  // namespace zklock::command
