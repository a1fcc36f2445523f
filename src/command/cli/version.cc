// SPDX-License-Identifier: Apache-2.0
#include "command/cli/version.h"

#include "zk/client.h"

#include <zklock_commit.h>

#include <fmt/format.h>

namespace zklock::command {

std::string version_text() {
  const std::string commit = *ZKLOCK_COMMIT == '\0' ? "" : ", commit " ZKLOCK_COMMIT;
  return fmt::format("zklock {}\nZooKeeper C client {}\nbuilt with {}, {}{}\n", ZKLOCK_VERSION, zk::Client::version(),
                     ZKLOCK_COMPILER, ZKLOCK_BUILD, commit);
}

}  // namespace zklock::command
