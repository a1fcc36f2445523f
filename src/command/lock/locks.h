// SPDX-License-Identifier: Apache-2.0
// The subcommands for locks, run, show and break, and what is shown of those who stand at locks. What zklock has
// written on their nodes is taken apart; the text of other programs is shown as it is.
#pragma once

#include "command/cli/subcommand.h"
#include "host/display.h"
#include "recipe/lock/survey.h"

#include <string>
#include <vector>

namespace zklock::command {

Execute add_run(CLI::App& app, GlobalOptions& global);
Execute add_show(CLI::App& app, GlobalOptions& global);
Execute add_break(CLI::App& app, GlobalOptions& global);

// A table: a line for each participant, and one for a lock that has none. Nothing without locks. A terminal that is too
// narrow for all of it gets the columns that matter most.
std::string table_of(const std::vector<recipe::Survey>& surveys, const host::Display& display = {});

// An object on a line of its own. Keys of which nothing is known are left out.
std::string json_of(const recipe::Survey& survey);

// A table of those whom breaking a lock would hit.
std::string table_of_holders(const std::vector<recipe::Participant>& holders);

}  // namespace zklock::command
