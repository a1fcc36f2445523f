// SPDX-License-Identifier: Apache-2.0
// zklock queue: what its subcommands share on the command line.
#pragma once

#include "command/cli/arguments.h"

#include <string>
#include <vector>

namespace zklock::command {

// Adds it to `root`; the subcommands are added to what it returns.
CLI::App& add_queue(CLI::App& root);

// The queue that is named among the words of `app`, and the words behind it. Throws a Failure (64) for a bad one.
struct QueueWords {
  std::string path;
  std::vector<std::string> rest;
};
QueueWords queue_words(const CLI::App& app, const Arguments& arguments);

// Nothing but a queue.
std::string queue_path(const CLI::App& app, const Arguments& arguments);

}  // namespace zklock::command
