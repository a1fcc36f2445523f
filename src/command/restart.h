// SPDX-License-Identifier: Apache-2.0
// --restart: a service that goes on after a loss. Where two hosts have it, one runs and the other stands by.
#pragma once

#include <functional>

namespace zklock::command {

// Calls `attempt` again after a growing pause when it fails with 76, and from then on also when no server answers (69),
// because that may be why the lock was lost. Each time says so in one line. Any other end is the end.
int restart_after_loss(const std::function<int()>& attempt);

}  // namespace zklock::command
