// SPDX-License-Identifier: Apache-2.0
// A child of zklock that does nothing until zklock is dead, whatever ended it. Then it does what zklock cannot do any
// more. It is for use without a guard (guard.h), which does the same at its end.
#pragma once

#include <functional>
#include <sys/types.h>

namespace zklock::host {

class Survivor {
 public:
  // Forks. To be called before there is a ZooKeeper handle. The child calls `at_end` with nothing open but /dev/null as
  // the standard streams, and `at_end` must end soon. Throws a Failure (70) if there can be no child.
  explicit Survivor(const std::function<void()>& at_end);
  Survivor(const Survivor&) = delete;
  // Ends the child, which then does not call `at_end`.
  ~Survivor();

 private:
  pid_t pid_;
};

// The rest is for children of zklock that outlive it.

// Blocks all signals, so that only SIGKILL and SIGSTOP reach the caller, and gives it another name for ps and killall.
// So a signal to all processes called zklock does not reach those that clean up after them. pkill -f and pidof still
// find them, because they look at the command line and the program.
void shield_from_signals();
inline constexpr const char* kGuardName = "zk-guard";

// Waits until `parent` is dead and all its descriptors are closed, calls `at_end`, and exits. With `dying`, exits
// without the call if `parent` still lives after 5 seconds. If `at_end` is null, waits for nothing and exits. Discards
// pending signals.
[[noreturn]] void end_after(pid_t parent, bool dying, const std::function<void()>& at_end);

}  // namespace zklock::host
