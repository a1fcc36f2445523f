// SPDX-License-Identifier: Apache-2.0
// The program to run: found before anything is waited for, so that a typing error costs nothing.
#pragma once

#include "base/failure.h"

#include <string>
#include <vector>

namespace zklock::host {

struct Program {
  std::string file;                    // what is executed
  std::vector<std::string> arguments;  // as given, byte for byte; [0] is the name that was typed

  // Looks `arguments[0]` up like a shell: as it is with a slash in it, else in PATH. Throws a Failure: 127 where
  // there is no such file, 126 where it may not be executed.
  static Program find(std::vector<std::string> arguments);
};

// What execve takes, made before the fork: a child that shares our memory may do nothing but system calls. With the
// caller's environment plus `variables` ("NAME=value"). Keeps pointers into the program, which must outlive it.
class Execution {
 public:
  Execution(const Program& program, const std::vector<std::string>& variables);
  Execution(const Execution&) = delete;

  // In a child: becomes the program. Returns errno if that fails. A file without #! is run by /bin/sh, as execvp does.
  int execute() const;

 private:
  std::vector<std::string> environment_;
  std::vector<char*> variables_;
  std::vector<char*> arguments_;
  std::vector<char*> by_shell_;
  const char* file_;
};

// 127 where the program or its interpreter does not exist, else 126, with the reason.
Failure cannot_execute(const Program& program, int error);

}  // namespace zklock::host
