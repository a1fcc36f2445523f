// SPDX-License-Identifier: Apache-2.0
#include "command/group/group.h"

#include "base/text.h"
#include "zk/path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock group join --name web1 /groups/web -- httpd -X\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n"
    "Manual: zklock-group(1)";

std::string only_group(const CLI::App& app, const std::vector<std::string>& words, const Arguments& arguments) {
  if (words.empty()) {
    throw usage_error(fmt::format("no group named: write zklock group {} /groups/web", app.get_name()));
  }
  zk::check_path(words.front());
  if (words.size() == 1) return words.front();
  if (arguments.separated) {
    throw usage_error(fmt::format("unexpected argument '{}': one group at a time", printable(words[1])));
  }
  throw unexpected_word(words[1], arguments);
}

}  // namespace

CLI::App& add_group(CLI::App& root) {
  CLI::App& group = *add_command(root, "group", "Groups: be a member, see who is");
  set_usage(group, "Usage: zklock group COMMAND [OPTIONS] GROUP ...");
  group.require_subcommand(0, 1);
  set_footer(group, kFooter);
  return group;
}

std::string group_path(const CLI::App& app, const Arguments& arguments) {
  const std::vector<std::string> words = operands_of(app, arguments);
  if (words.size() > 1) {
    throw usage_error(fmt::format("unexpected argument '{}': one group at a time", printable(words[1])));
  }
  return only_group(app, words, arguments);
}

std::string group_before_command(const CLI::App& app, const Arguments& arguments) {
  const std::vector<std::string> words = app.remaining();
  for (const std::string& word : words) {
    if (word.starts_with('-')) throw unknown_word(app, word);
  }
  if (arguments.separated && arguments.command.empty()) throw usage_error("no command behind --");
  return only_group(app, words, arguments);
}

std::optional<size_t> member_count(const Value& value, const char* option) {
  if (!value) return std::nullopt;
  return static_cast<size_t>(number_of(*value, option, 0));
}

std::string members_are(size_t count) {
  return fmt::format("{} member{}", count, count == 1 ? "" : "s");
}

}  // namespace zklock::command
