// SPDX-License-Identifier: Apache-2.0
// What zklock and its guard tell each other: a page of memory that both map, for what is, and a socket, for what
// shall be done (zklock's orders) and for "look at the page" (one byte from the guard).
#pragma once

#include <atomic>
#include <cstddef>
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
  std::atomic<CommandPhase> phase{CommandPhase::idle};
  std::atomic<int> wait_status{0};        // as from waitpid, from `ended` on
  std::atomic<int> exec_error{0};         // errno of a failed exec
  std::atomic<int> stop_signal{0};        // while `stopped`
  std::atomic<pid_t> stubborn{0};         // a process that could not be killed; 0: none
  std::atomic<int64_t> fence{INT64_MAX};  // zklock's: from here on nothing of the command may live; BootClock, ns
  std::atomic<bool> fenced{false};        // the guard has killed because of that
  std::atomic<bool> let_go{false};        // zklock's: what the command left behind may run on without a lock
  std::atomic<int> refused{0};  // a signal that the command could not be sent (another user's, by setuid); 0: none
};
static_assert(std::atomic<CommandPhase>::is_always_lock_free);

enum class OrderKind : uint8_t {
  start,    // the rest of the message: variables, "NAME=value\0" each
  forward,  // the command gets signal `number`
  finish,   // TERM to the whole tree, KILL after `number` milliseconds
};

constexpr size_t kLongestOrder = 128 * 1024;

struct Order {
  OrderKind kind;
  int32_t number = 0;
};

}  // namespace zklock::host
