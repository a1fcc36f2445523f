// SPDX-License-Identifier: Apache-2.0
#include "command/queue/queue.h"

#include "base/text.h"

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

std::pair<std::string, std::vector<std::string>> queue_words(const Call& call) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  return {first_path(words, call, kQueuePath), {words.begin() + 1, words.end()}};
}

std::string path_of_queue(const Call& call) {
  const auto [path, rest] = queue_words(call);
  if (rest.empty()) return path;
  throw second_path(rest.front(), kQueuePath);
}

std::string items_are(int64_t count) {
  return fmt::format("{} {}", counted(count, "item"), count == 1 ? "is" : "are");
}

}  // namespace zklock::command
