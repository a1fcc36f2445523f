// SPDX-License-Identifier: Apache-2.0
// What zklock (guard.h) and its guard (guard_process.cc) have in common. Both map a page of memory, which says what is;
// what shall be done goes as orders through a socket, and the other way one byte, "look at the page".
#pragma once

#include "base/time.h"
#include "host/fd.h"
#include "host/loop.h"
#include "host/process/spawn.h"
#include "host/signals.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace zklock::host {

// What a guard is made for.
enum class Service {
  once,   // one command, in zklock's process group, with zklock's standard input
  again,  // commands one after the other, each in a process group of its own, with the standard input that comes with
          // its order, else /dev/null
};

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
  std::atomic<pid_t> pid{0};              // of the command; 0: none was started
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

  Deadline fence_moment() const { return Deadline(Duration(fence)); }
};
static_assert(std::atomic<CommandPhase>::is_always_lock_free);

// What a command is started with.
struct Launch {
  std::vector<std::string> variables;       // "NAME=value", besides the caller's
  std::vector<std::string> arguments = {};  // instead of the program's; none: those
  std::optional<std::string> input = {};    // Service::again: on standard input; nothing: /dev/null
  std::vector<int64_t> nested = {};         // tokens of outer locks that it runs under: the guard marks itself (mark.h)
};

// Throws a Failure (64) for more than fits into an order, or for one that the kernel takes in no environment.
void check_variables(const std::vector<std::string>& variables);

enum class OrderKind : uint8_t {
  start,    // command number `number`; with it come variables, arguments, standard input and tokens
  forward,  // the command gets signal `number`
  finish,   // TERM to the whole tree, KILL after `number` milliseconds
};

struct Order {
  OrderKind kind = OrderKind::forward;
  int32_t number = 0;
  std::string variables = {};  // each with a '\0' at its end
  Fd arguments = {};           // a file in memory, the same; none: the program's own
  Fd input = {};               // standard input; none: what the kind of service says
  std::vector<int64_t> nested = {};
  bool whole = true;  // false: there was no room for its descriptors here
};

// To start command number `number`. Throws a Failure where there is no memory or no descriptor for what goes with it.
Order order_to_start(int number, const Launch& launch);
// The variables or arguments of an order.
std::vector<std::string> strings_of(std::string_view block);

// Two connected ends. Throws a Failure where there is no socket to be had.
std::pair<Fd, Fd> make_channel();
// False where the other end is gone, or takes no more now. Throws a Failure (64) for more variables than fit.
bool send(const Fd& end, const Order& order);
// Nothing if there is none; `closed` then says whether the other end is gone.
std::optional<Order> receive(const Fd& end, bool& closed);

// What a guard has of its zklock: what it waits for, and what its commands are made of.
struct GuardSetup {
  Fd channel;
  ChildSignal child_signal;  // SIGCHLD is that of whoever reads it, so zklock's own descriptor does for the guard too
  Timer timer;
  GuardPage& page;
  Service service;
  const Program& program;
  const Inherited& inherited;
  pid_t zklock;
  const std::function<void()>& at_end;  // done once zklock is dead and nothing of the command is left
};

// The guard's own life, in the process that was forked for it (guard_process.cc). Never returns.
[[noreturn]] void be_guard(GuardSetup setup) noexcept;

}  // namespace zklock::host
