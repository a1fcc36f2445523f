// SPDX-License-Identifier: Apache-2.0
// A child of zklock's that does nothing until zklock is dead, however that comes, and then what zklock cannot do any
// more. For where there is no guard (guard.h), which does the same at its end.
#pragma once

#include <functional>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

class Survivor {
 public:
  // Forks: before there is a ZooKeeper handle. `at_end` is done with nothing open but /dev/null as the standard
  // streams, and must come to its end soon.
  explicit Survivor(const std::function<void()>& at_end);
  Survivor(const Survivor&) = delete;
  // It is not needed any more.
  ~Survivor();

 private:
  pid_t pid_;
};

// The rest is for processes that outlive zklock, its children.

// From now on nothing but SIGKILL and SIGSTOP reaches the caller.
void block_all_signals();

// What ps and killall call the caller from now on, so that a signal to all processes called zklock does not reach those
// that clean up behind them. pkill -f and pidof look at something else.
inline constexpr const char* kGuardName = "zk-guard";
void outlive_by_name();

// Once `parent` is dead, all its descriptors closed, does `at_end`, if any, and ends. Without doing it, where `parent`
// lives on for some seconds, though `dying`. Throws away what signals are pending.
[[noreturn]] void end_after(pid_t parent, bool dying, const std::function<void()>& at_end);

}  // namespace zklock::host
