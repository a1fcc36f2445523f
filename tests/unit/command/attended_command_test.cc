// SPDX-License-Identifier: Apache-2.0
// command/child/attended_command: what is said of a command that was ended.
#include "command/child/attended_command.h"

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

}  // namespace
}  // namespace zklock::command
