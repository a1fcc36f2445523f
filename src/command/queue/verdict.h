// SPDX-License-Identifier: Apache-2.0
// What the end of a command says of the item that it was run for. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace zklock::command {

// How a command ended.
struct CommandEnd {
  int wait_status = 0;             // as from waitpid
  int exec_error = 0;              // errno, where it could not be executed
  bool interrupted = false;        // by a signal that was sent to zklock, and passed on
  bool item_in_arguments = false;  // if they were too long, it is the item's fault, not the command's
};

enum class Verdict {
  done,     // 0
  failed,   // to be tried again
  dead,     // 65, or the last attempt
  later,    // 75: not the item's fault; to be tried again, and not counted
  left,     // interrupted: as it was
  useless,  // 126, 127: no item can be worked on by this command
};

// `attempt`: this one's number, from 1; `most`: how many there may be.
Verdict verdict_on(const CommandEnd& end, int64_t attempt, int64_t most);

// "exit status 3", "killed by SIGKILL", "could not be executed: Argument list too long".
std::string describe(const CommandEnd& end);

// For the dead letters: a JSON object with the reason, how often it was tried, this host and the time.
std::string why_dead(const std::string& reason, int64_t attempts);

}  // namespace zklock::command
