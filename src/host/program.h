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

  // In a child: becomes the program with the caller's environment plus `variables` ("NAME=value"). Returns errno if
  // that fails. A file without #! is run by /bin/sh, as execvp does.
  int execute(const std::vector<std::string>& variables) const;
};

// 127 where the program or its interpreter does not exist, else 126, with the reason.
Failure cannot_execute(const Program& program, int error);

}  // namespace zklock::host
