// SPDX-License-Identifier: Apache-2.0
#include "command/queue/queue.h"

#include "base/text.h"
#include "command/cli/options.h"
#include "zk/path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock queue push /queues/urls <urls.txt\n"
    "  zklock queue count /queues/urls\n"
    "Manual: zklock-queue(1)";

}  // namespace

CLI::App& add_queue(CLI::App& root) {
  CLI::App& queue = *add_command(root, "queue", "Queues: put items in, look at them, take them out");
  set_usage(queue, "Usage: zklock queue COMMAND [OPTIONS] QUEUE ...");
  // One: else CLI11 would take an item called "push" for a subcommand.
  queue.require_subcommand(0, 1);
  set_footer(queue, kFooter);
  return queue;
}

QueueWords queue_words(const CLI::App& app, const Arguments& arguments) {
  std::vector<std::string> words = operands_of(app, arguments);
  if (words.empty()) {
    throw usage_error(fmt::format("no queue named: write zklock queue {} /queues/work", app.get_name()));
  }
  zk::check_path(words.front());
  QueueWords named{words.front(), {}};
  named.rest.assign(words.begin() + 1, words.end());
  return named;
}

std::string queue_path(const CLI::App& app, const Arguments& arguments) {
  const QueueWords words = queue_words(app, arguments);
  if (words.rest.empty()) return words.path;
  throw usage_error(fmt::format("unexpected argument '{}': one queue at a time", printable(words.rest.front())));
}

}  // namespace zklock::command
