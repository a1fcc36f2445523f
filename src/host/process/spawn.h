// SPDX-License-Identifier: Apache-2.0
// The program to run: found before anything is waited for, so that a typing error costs nothing. And how a command
// begins its life as the guard's child.
#pragma once

#include "base/failure.h"
#include "host/fd.h"
#include "host/signals.h"

#include <atomic>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

struct Program {
  std::string file;                    // what is executed
  std::vector<std::string> arguments;  // as given, byte for byte; [0] is the name that was typed

  // Looks `arguments[0]` up like a shell: as it is with a slash in it, else in PATH. Throws a Failure: 127 where
  // there is no such file, 126 where it may not be executed.
  static Program find(std::vector<std::string> arguments);
};

// 127 where the program or its interpreter does not exist, else 126, with the reason.
Failure cannot_execute(const Program& program, int error);

// What execve takes, made before the fork: a child that shares our memory may do nothing but system calls. With the
// caller's environment plus `variables` ("NAME=value"). Keeps pointers into the program, which must outlive it.
class Execution {
 public:
  Execution(const Program& program, const std::vector<std::string>& variables);
  Execution(const Execution&) = delete;

  // In a child: becomes the program. Returns errno if that fails. A file without #! is run by /bin/sh, as execvp does.
  int execute() const;
  // In a child: if zklock was handed sockets (systemd's LISTEN_PID), the command is.
  void take_sockets() const;

 private:
  std::vector<std::string> environment_;
  std::vector<char*> variables_;
  std::vector<char*> arguments_;
  std::vector<char*> by_shell_;
  const char* file_;
  char* listener_ = nullptr;  // where the number stands in LISTEN_PID, if that names zklock
};

// What a child needs to know. It may have our memory, so it changes nothing there but `error`.
struct Spawning {
  const Execution& execution;
  const Inherited& inherited;
  pid_t group;              // to be in; 0: a process group of its own
  const Fd* input;          // standard input, /dev/null where there is no such descriptor; nullptr: the caller's
  std::atomic<int>& error;  // where it says why it could not be executed; then it ends with 127
  int control_group;        // to be spawned into, a descriptor; -1, or where that is not possible: ours
};

// Forks, and returns when the command is executed; -1 with errno where there can be no child. The child dies when the
// caller does.
pid_t spawn(const Spawning& spawning);

// Runs it with /dev/null for input and output, and waits for it. Whether it exited with 0.
bool succeeds(const Program& program, const Inherited& inherited);

// The caller becomes it, with what it inherited itself. Throws cannot_execute().
[[noreturn]] void become(const Program& program, const Inherited& inherited);

// From now on the caller, a guard, runs as soon as it has something to do, where it may (root): a command that fills
// all processors, in many sessions, would leave it a small share of them, and the fence is due at its moment. What is
// spawned is scheduled as the caller was before.
void be_prompt();

}  // namespace zklock::host
