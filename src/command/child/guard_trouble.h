// SPDX-License-Identifier: Apache-2.0
// What a guard could not do to its command, for people: each trouble is said once.
#pragma once

#include "host/process/guard.h"

#include <string>

namespace zklock::command {

class GuardTrouble {
 public:
  // `command`: what the guard's is called, "the command".
  GuardTrouble(host::Guard& guard, std::string command) : guard_(guard), command_(std::move(command)) {}

  // To be called at every turn of the loop. Writes to standard error.
  void report();

 private:
  host::Guard& guard_;
  std::string command_;
  pid_t named_stubborn_ = 0;
};

// The end of a message about a loss: "SUBJECT was stopped", or by how much that came too late. Once nothing is left.
std::string end_of(const std::string& subject, Duration overrun);

}  // namespace zklock::command
