// SPDX-License-Identifier: Apache-2.0
// What zklock tells its guard to do: messages on a socket. The other way goes one byte, "look at the page".
#pragma once

#include "host/fd.h"

#include <cstdint>
#include <optional>
#include <string>

namespace zklock::host {

enum class OrderKind : uint8_t {
  start,    // command number `number`; with it come variables, arguments and standard input
  forward,  // the command gets signal `number`
  finish,   // TERM to the whole tree, KILL after `number` milliseconds
};

struct Order {
  OrderKind kind = OrderKind::forward;
  int32_t number = 0;
  std::string variables = {};  // "NAME=value\0" each
  Fd arguments = {};           // a memory file, "argument\0" each; none: the program's own
  Fd input = {};               // standard input; none: what the kind of service says
  bool whole = true;           // false: there was no room for its descriptors here
};

// A pair of connected ends. Throws a Failure where there is no socket to be had.
struct GuardChannel {
  static GuardChannel make();
  Fd zklock;
  Fd guard;
};

// False where the other end is gone, or takes no more now. Throws a Failure (64) for more variables than fit.
bool send(const Fd& end, const Order& order);
// Nothing if there is none; `closed` then says whether the other end is gone.
std::optional<Order> receive(const Fd& end, bool& closed);

// A file in memory with this content, to be read from its beginning; a pipe where files may not grow so large. Throws a
// Failure where neither can be had.
Fd memory_file(const std::string& content);
// All of it, once.
std::string content_of(const Fd& file);

}  // namespace zklock::host
