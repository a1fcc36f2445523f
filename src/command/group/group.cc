// SPDX-License-Identifier: Apache-2.0
#include "command/group/group.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "zk/path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::Member;
using recipe::MemberChange;
using recipe::Members;
using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock group join --name web1 /groups/web -- httpd -X\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n"
    "Manual: zklock-group(1)";

constexpr size_t kLongestData = 80;

std::string first_of(const std::vector<std::string>& words, const Call& call) {
  if (words.empty()) {
    throw usage_error(fmt::format("no group named: write zklock group {} /groups/web", name_of(call.app)));
  }
  zk::check_path(words.front());
  return words.front();
}

Failure second_group(const std::string& word) {
  return usage_error(fmt::format("unexpected argument '{}': one group at a time", printable(word)));
}

void put(Json& json, const std::string& group, const std::string& name, const Member& member) {
  json["node"] = zk::child_of(group, name);
  json["since"] = format_utc(member.stat.created_ms);
  json["session"] = zk::session_name(member.stat.ephemeral_owner);
  json["data"] = member.data;
}

std::string table_of(const Members& members) {
  Table table({"MEMBER", "SINCE", "SESSION", "DATA"});
  for (const auto& [name, member] : members) {
    table.add({name, format_utc(member.stat.created_ms), zk::session_name(member.stat.ephemeral_owner),
               shorten(printable(member.data), kLongestData)});
  }
  return table.text();
}

}  // namespace

Execute add_group(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock group COMMAND [OPTIONS] GROUP ...");
  set_footer(app, kFooter);
  return nullptr;
}

std::string group_path(const Call& call) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  if (words.size() > 1) throw second_group(words[1]);
  return first_of(words, call);
}

std::string group_before_command(const Call& call) {
  const std::vector<std::string> words = words_of(call.app);
  for (const std::string& word : words) {
    if (word.starts_with('-')) throw unknown_word(call.app, word);
  }
  const bool separated = call.arguments.separated;
  if (separated && call.arguments.command.empty()) throw usage_error("no command behind --");
  std::string path = first_of(words, call);
  if (words.size() == 1) return path;
  throw separated ? second_group(words[1]) : unexpected_word(words[1], call.arguments);
}

std::optional<host::Program> program_of(const Call& call) {
  if (!call.arguments.separated) return std::nullopt;
  return host::Program::find(call.arguments.command);
}

std::string text_of(const std::string& group, const Members& members, GroupForm form) {
  if (form == GroupForm::table && !members.empty()) return table_of(members);
  std::string text;
  for (const auto& [name, member] : members) {
    if (form == GroupForm::names) text += printable(name) + '\n';
    if (form != GroupForm::json) continue;
    Json json;
    json["name"] = name;
    put(json, group, name, member);
    text += json_line(json);
  }
  return text;
}

std::string text_of(const std::string& group, const MemberChange& change, const Members& members, GroupForm form) {
  const bool joined = change.kind == MemberChange::Kind::joined;
  if (form != GroupForm::json) return fmt::format("{}{}\n", joined ? '+' : '-', printable(change.name));
  Json json;
  json["change"] = joined ? "joined" : "left";
  json["name"] = change.name;
  if (joined) put(json, group, change.name, members.at(change.name));
  return json_line(json);
}

}  // namespace zklock::command
