// SPDX-License-Identifier: Apache-2.0
// What zklock (guard.h) and its guard (guard_process.cc) share. Both map a page of memory that holds the present state.
// zklock sends orders through a socket, and the guard sends single bytes back, which mean "look at the page".
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

// What a guard is for.
enum class Service {
  once,   // one command, in zklock's process group, with zklock's standard input
  again,  // several commands, one after the other, each in a process group of its own, with the standard input that
          // comes with its order, or /dev/null
};

// The state of the command, written by the guard alone. For one command it changes only in this order, except that
// `running` and `stopped` alternate.
enum class CommandPhase : int {
  idle,     // not started yet
  running,  // the guard has a child; exec_error shows whether it could be executed
  stopped,  // by job control or SIGSTOP
  ended,    // the command itself has ended, or could not be started; what it left behind may still run
  gone,     // the guard has no descendant left
};

struct GuardPage {
  std::atomic<int> command{
      0};  // number of the command that the rest describes, from 1; written before `phase` is `running`
  std::atomic<CommandPhase> phase{CommandPhase::idle};
  std::atomic<pid_t> pid{0};              // of the command; 0: none was started
  std::atomic<int> wait_status{0};        // as from waitpid, from `ended` on
  std::atomic<int> exec_error{0};         // errno of a failed exec
  std::atomic<pid_t> stubborn{0};         // a process that could not be killed; 0: none
  std::atomic<int64_t> fence{INT64_MAX};  // by zklock: from then on nothing of the command may live; BootClock, ns
  std::atomic<bool> fenced{false};        // the guard has killed because of the fence
  std::atomic<bool> let_go{false};        // by zklock: what the command left behind may run on without a lock
  std::atomic<int64_t> overrun{0};        // how long something of it lived after the fence, ns; valid at `gone`
  std::atomic<bool> has_group{false};     // `group` is valid; set before that group is made
  char group[2048] = {};                  // the folder of the command's control group
  std::atomic<int> refused{0};  // a signal that the guard may not send, as the command runs as another user; 0: none

  Deadline fence_moment() const { return Deadline(Duration(fence)); }
};
static_assert(std::atomic<CommandPhase>::is_always_lock_free);

// What a command is started with.
struct Launch {
  std::vector<std::string> variables;       // "NAME=value", in addition to the caller's
  std::vector<std::string> arguments = {};  // instead of the program's own; empty: the program's
  std::optional<std::string> input = {};    // Service::again: on standard input; nothing: /dev/null
  std::vector<int64_t> nested = {};  // tokens of the outer locks that it uses; the guard makes marks for them (mark.h)
};

// Throws a Failure (64) if the variables do not fit into an order. A variable that is too long for the kernel does not
// fit either.
void check_variables(const std::vector<std::string>& variables);

enum class OrderKind : uint8_t {
  start,    // starts command `number`, with variables, arguments, standard input and tokens
  forward,  // sends signal `number` to the command
  finish,   // sends TERM to the whole tree, and KILL after `number` milliseconds
};

struct Order {
  OrderKind kind = OrderKind::forward;
  int32_t number = 0;
  std::string variables = {};  // each ends with '\0'
  Fd arguments = {};           // a file in memory, in the same format; none: the program's own
  Fd input = {};               // standard input; none: as Service says
  std::vector<int64_t> nested = {};
  bool whole = true;  // false: the receiver had no room for its descriptors
};

// Returns the order to start command `number`. Throws a Failure (70) if there is no memory or no descriptor for what
// goes with it.
Order order_to_start(int number, const Launch& launch);
// Returns the variables or arguments in the block of an order.
std::vector<std::string> strings_of(std::string_view block);

// Returns two connected ends. Throws a Failure (70) if no socket can be made.
std::pair<Fd, Fd> make_channel();
// Sends `order` without waiting. Returns false if the other end is gone, or takes no more now. Throws a Failure (64) if
// the variables do not fit, and a Failure (70) if sending fails otherwise.
bool send(const Fd& end, const Order& order);
// Returns the next order; nothing if there is none. Sets `closed` to whether the other end is gone.
std::optional<Order> receive(const Fd& end, bool& closed);

// What a guard gets from its zklock: what it waits for, and what it needs to start commands.
struct GuardSetup {
  Fd channel;
  Fd child_signal;  // zklock's descriptor works in the guard too: a signalfd shows the reader's own signals
  Timer timer;
  GuardPage& page;
  Service service;
  const Program& program;
  const Inherited& inherited;
  pid_t zklock;
  const std::function<void()>& at_end;  // called once zklock is dead and nothing of the command is left
};

// Runs the guard, in the process that was forked for it (guard_process.cc). Never returns.
[[noreturn]] void be_guard(GuardSetup setup) noexcept;

}  // namespace zklock::host
