// SPDX-License-Identifier: Apache-2.0
// --restart: a service that goes on after a loss. Where two hosts have it, one runs and the other stands by.
#pragma once

#include <functional>

namespace zklock::command {

// What an attempt has come to, also when it fails.
struct Course {
  bool connected = false;  // once at least
  bool over = false;       // whatever failed, there shall be no other: somebody wanted the end, or the work was done
};

// Calls `attempt` again after a growing pause when it fails with 76, and once one was connected also when no server
// answers any more (69): a standby must outlast an outage too. Each time says so in one line. Any other end is the end.
int restart_after_loss(const std::function<int(Course&)>& attempt);

}  // namespace zklock::command
