// SPDX-License-Identifier: Apache-2.0
#include "command/queue/item_command.h"

#include "base/time.h"
#include "recipe/queue/layout.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

// One argument with its end, on Linux: MAX_ARG_STRLEN.
constexpr size_t kLongestArgument = 128 * 1024;

std::string replaced(const std::string& word, const std::string& placeholder, const std::string& text) {
  std::string result;
  size_t from = 0;
  for (size_t at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, from)) {
    result += word.substr(from, at - from) + text;
    from = at + placeholder.size();
  }
  return result + word.substr(from);
}

}  // namespace

ItemCommand::ItemCommand(std::vector<std::string> words, std::optional<std::string> placeholder, std::string queue,
                         std::string servers)
    : words_(std::move(words)),
      placeholder_(std::move(placeholder)),
      queue_(std::move(queue)),
      servers_(std::move(servers)) {}

std::optional<std::string> ItemCommand::unfit(const recipe::Item& item) const {
  if (!placeholder_) return std::nullopt;
  if (item.data.find('\0') != std::string::npos) return "it holds a NUL byte, which no argument (-I) can";
  for (const std::string& argument : arguments(item)) {
    if (argument.size() >= kLongestArgument) return "it is too long for an argument (-I)";
  }
  return std::nullopt;
}

host::Launch ItemCommand::launch(const recipe::Item& item) const {
  if (placeholder_) return {variables(item), arguments(item)};
  return {variables(item), {}, item.data};
}

std::vector<std::string> ItemCommand::arguments(const recipe::Item& item) const {
  std::vector<std::string> arguments = {words_.front()};
  for (size_t i = 1; i < words_.size(); ++i) arguments.push_back(replaced(words_[i], *placeholder_, item.data));
  return arguments;
}

std::vector<std::string> ItemCommand::variables(const recipe::Item& item) const {
  return {"ZKLOCK_PATH=" + queue_,
          "ZKLOCK_NODE=" + recipe::claim_of(item.path),
          fmt::format("ZKLOCK_TOKEN={}", item.token),
          "ZKLOCK_SERVERS=" + servers_,
          "ZKLOCK_ITEM_ID=" + zk::name_of(item.path),
          fmt::format("ZKLOCK_ATTEMPT={}", item.attempts),
          fmt::format("ZKLOCK_PRIORITY={}", recipe::segment_of(item.path).priority),
          "ZKLOCK_ENQUEUED=" + format_utc(item.created_ms)};
}

}  // namespace zklock::command
