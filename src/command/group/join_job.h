// SPDX-License-Identifier: Apache-2.0
// zklock group join, once its options are read: is a member of a group as long as its command runs, or without one
// until a signal. If the session expires meanwhile, it joins again, and the command is not touched.
#pragma once

#include "command/cli/subcommand.h"
#include "command/group/member_data.h"
#include "recipe/group/member.h"

#include <optional>

namespace zklock::command {

// The job, as the command line describes it.
struct JoinPlan {
  recipe::Membership membership;
  MemberData data;          // that of the membership
  Deadline until = kNever;  // for joining the first time, connecting included
  bool waits = false;       // for the name, if it is taken
  std::optional<host::Program> program = {};
};

// Returns the command's status. Forks the guard, or without a command the survivor, so there must be no ZooKeeper
// handle yet. Throws a Failure: 65, 69, 70, 75 if the name is taken, 76 if the member was removed and there is no
// command, 77, a signal.
int join_group(const Call& call, JoinPlan plan);

}  // namespace zklock::command
