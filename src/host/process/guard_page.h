// SPDX-License-Identifier: Apache-2.0
// The page of memory that zklock and its guard both map: what is. What shall be done goes another way
// (channel.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace zklock::host {

// Of the command, written by the guard alone. In this order, never back, but for running and stopped.
enum class CommandPhase : int {
  idle,     // not started yet
  running,  // the guard has a child; whether it could be executed shows in exec_error
  stopped,  // by job control or SIGSTOP
  ended,    // the command itself has ended; what it left behind may still run
  gone,     // the guard has no descendant left
};

struct GuardPage {
  std::atomic<int> command{0};  // which one the rest speaks of, counted from 1; written before its phase is `running`
  std::atomic<CommandPhase> phase{CommandPhase::idle};
  std::atomic<int> wait_status{0};        // as from waitpid, from `ended` on
  std::atomic<int> exec_error{0};         // errno of a failed exec
  std::atomic<int> stop_signal{0};        // while `stopped`
  std::atomic<pid_t> stubborn{0};         // a process that could not be killed; 0: none
  std::atomic<int64_t> fence{INT64_MAX};  // zklock's: from here on nothing of the command may live; BootClock, ns
  std::atomic<bool> fenced{false};        // the guard has killed because of that
  std::atomic<bool> let_go{false};        // zklock's: what the command left behind may run on without a lock
  std::atomic<int64_t> overrun{0};     // how long after the fence something of the command still lived, ns; at `gone`
  std::atomic<bool> has_group{false};  // `group` is written; the guard writes it before it makes that
  char group[2048] = {};               // the folder of the command's control group
  std::atomic<int> refused{0};  // a signal that the command could not be sent (another user's, by setuid); 0: none
};
static_assert(std::atomic<CommandPhase>::is_always_lock_free);

}  // namespace zklock::host
