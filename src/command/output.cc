// SPDX-License-Identifier: Apache-2.0
#include "command/output.h"

#include "base/failure.h"

#include <cstdio>

namespace zklock::command {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw Failure(ExitStatus::input_output, "cannot write to standard output");
}

}  // namespace zklock::command
