// SPDX-License-Identifier: Apache-2.0
// zklock queue: its subcommands (push.cc, pull.cc, the others in admin.cc), and what they share on the command line.
#pragma once

#include "command/cli/subcommand.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::command {

Execute add_queue(CLI::App& app, GlobalOptions& global);  // does nothing by itself

Execute add_queue_push(CLI::App& app, GlobalOptions& global);
Execute add_queue_pull(CLI::App& app, GlobalOptions& global);
Execute add_queue_list(CLI::App& app, GlobalOptions& global);
Execute add_queue_count(CLI::App& app, GlobalOptions& global);
Execute add_queue_requeue(CLI::App& app, GlobalOptions& global);
Execute add_queue_purge(CLI::App& app, GlobalOptions& global);
Execute add_queue_delete(CLI::App& app, GlobalOptions& global);

// The queue that is named among the words of `app`, and the words behind it. Throws a Failure (64) for a bad one.
struct QueueWords {
  std::string path;
  std::vector<std::string> rest;
};
QueueWords queue_words(const CLI::App& app, const Arguments& arguments);

// For messages: "1 item is", "5 items are".
std::string items_are(int64_t count);

}  // namespace zklock::command
