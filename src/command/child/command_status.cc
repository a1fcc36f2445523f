// SPDX-License-Identifier: Apache-2.0
#include "command/child/command_status.h"

#include "base/failure.h"
#include "host/signals.h"

#include <sys/wait.h>

namespace zklock::command {

int status_of_command(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  if (host::is_ending(signal)) throw Failure::by_signal(signal);
  return 128 + signal;
}

}  // namespace zklock::command
