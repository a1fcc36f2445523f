// SPDX-License-Identifier: Apache-2.0
#include "command/queue/queue.h"

#include "base/text.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kQueueFooter =
    "Examples:\n"
    "  zklock queue push /queues/urls <urls.txt\n"
    "  zklock queue count /queues/urls\n\n"
    "Manual: zklock-queue(1)";

}  // namespace

Execute add_queue(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock queue COMMAND [OPTIONS] QUEUE ...");
  set_footer(app, kQueueFooter);
  return nullptr;
}

std::pair<std::string, std::vector<std::string>> queue_words(const CLI::App& app, const Arguments& arguments) {
  std::vector<std::string> words = operands_of(app, arguments);
  if (words.empty()) {
    throw usage_error(fmt::format("no queue named: write zklock queue {} /queues/work", name_of(app)));
  }
  zk::check_path(words.front());
  return {words.front(), {words.begin() + 1, words.end()}};
}

std::string path_of_queue(const Call& call) {
  const auto [path, rest] = queue_words(call.app, call.arguments);
  if (rest.empty()) return path;
  throw usage_error(fmt::format("unexpected argument '{}': one queue at a time", printable(rest.front())));
}

std::string items_are(int64_t count) {
  return fmt::format("{} {}", counted(count, "item"), count == 1 ? "is" : "are");
}

}  // namespace zklock::command
