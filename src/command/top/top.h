// SPDX-License-Identifier: Apache-2.0
// zklock top: the ensemble, locks, queues and groups on one screen that is kept up to date.
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

Execute add_top(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
