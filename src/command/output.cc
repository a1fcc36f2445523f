// SPDX-License-Identifier: Apache-2.0
#include "command/output.h"

#include "base/failure.h"

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace zklock::command {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  // Whoever read it wants no more: zklock ends as quietly as other tools do.
  if (errno == EPIPE) throw Failure::by_signal(SIGPIPE);
  throw Failure(ExitStatus::input_output, "cannot write to standard output");
}

}  // namespace zklock::command
