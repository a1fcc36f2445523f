// SPDX-License-Identifier: Apache-2.0
// Finds the program to run before anything is waited for, so that a typing error costs nothing. Also starts it as the
// guard's child.
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

  // Finds the program for `arguments[0]` like a shell: a name with a slash is a path, and any other name is searched
  // for in PATH. Throws a Failure: 127 if there is no such file, 126 if it may not be executed.
  static Program find(std::vector<std::string> arguments);
};

// Returns a Failure with the reason: 127 if the program or its interpreter does not exist, else 126.
Failure cannot_execute(const Program& program, int error);

// What execve takes, made before the fork, because a child that shares our memory may do nothing but system calls. The
// environment is the caller's plus `variables` ("NAME=value"). It keeps pointers into the program, which must outlive
// it.
class Execution {
 public:
  Execution(const Program& program, const std::vector<std::string>& variables);
  Execution(const Execution&) = delete;

  // Becomes the program, in a child or in zklock itself. Returns errno if that fails. A file without #! is run by
  // /bin/sh, as by execvp.
  int execute() const;
  // Makes LISTEN_PID name the calling child if zklock was given sockets (by systemd), so that the command gets them.
  void take_sockets() const;

 private:
  std::vector<std::string> environment_;
  char* listener_;  // the pid in LISTEN_PID, if that is zklock's; else null
  std::vector<char*> variables_;
  std::vector<char*> arguments_;
  std::vector<char*> by_shell_;  // the shell, the file, and the other arguments
};

// What a child needs to know. The child may share our memory, so it changes nothing there but `error` and LISTEN_PID.
struct Spawning {
  const Execution& execution;
  const Inherited& inherited;
  pid_t group;              // the process group to be in; 0: a new one
  const Fd* input;          // standard input; an empty one: /dev/null; null: the caller's
  std::atomic<int>& error;  // errno, if the program could not be executed; the child then exits with 127
  int control_group;        // descriptor of the group to be spawned into; -1, or if that fails: ours
};

// Forks a child, and returns its pid when it has executed the program or failed to. Returns -1, with errno set, if
// there can be no child. The child dies when the caller does.
pid_t spawn(const Spawning& spawning);

// Runs the program with /dev/null for input and output, and waits for it. Returns whether it exited with 0.
bool succeeds(const Program& program, const Inherited& inherited);

// Replaces the caller by the program, which gets what zklock inherited. Throws cannot_execute() if that fails.
[[noreturn]] void become(const Program& program, const Inherited& inherited);

// Makes the caller, a guard, run as soon as it has something to do, if it may (root). A command that fills all
// processors, in many sessions, would leave it a small share of them, but the fence must be kept in time. What is
// spawned is scheduled as the caller was before.
void be_prompt();

}  // namespace zklock::host
