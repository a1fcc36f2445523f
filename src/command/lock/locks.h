// SPDX-License-Identifier: Apache-2.0
// The subcommands for locks: run, show, break.
#pragma once

#include "command/cli/subcommand.h"

namespace zklock::command {

Execute add_show(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
