// SPDX-License-Identifier: Apache-2.0
#include "command/group/group.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/metrics.h"
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

constexpr const char* kGroupFooter =
    "Examples:\n"
    "  zklock group join --name web1 /groups/web -- httpd -X\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n\n"
    "Manual: zklock-group(1)";

constexpr size_t kLongestData = 80;

// What gives way on a narrow terminal.
const Table::Yielding kYieldingOfMembers{{"SESSION", "SINCE", "DATA"}, {"MEMBER", "DATA"}};

void put_member(Json& json, const std::string& group, const std::string& name, const Member& member) {
  json["node"] = zk::child_of(group, name);
  json["since"] = format_utc(member.stat.created_ms);
  json["session"] = zk::session_name(member.stat.ephemeral_owner);
  json["data"] = member.data;
}

std::string table_of(const Members& members, std::optional<size_t> columns) {
  Table table({"MEMBER", "SINCE", "SESSION", "DATA"});
  for (const auto& [name, member] : members) {
    table.add({name, format_utc(member.stat.created_ms), zk::session_name(member.stat.ephemeral_owner),
               shorten(printable(member.data), kLongestData)});
  }
  if (columns) table.fit(*columns, kYieldingOfMembers);
  return table.text();
}

std::string count_of(const std::string& group, const Members& members) {
  constexpr const char* kName = "zklock_group_members";
  const auto count = static_cast<double>(members.size());
  return family_of(kName, "gauge", "Members of the group.", sample_of(kName, label_of("group", group), count));
}

}  // namespace

Execute add_group(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock group COMMAND [OPTIONS] GROUP ...");
  set_footer(app, kGroupFooter);
  return nullptr;
}

std::string text_of(const std::string& group, const Members& members, GroupForm form, std::optional<size_t> columns) {
  if (form == GroupForm::table && !members.empty()) return table_of(members, columns);
  if (form == GroupForm::prometheus) return count_of(group, members);
  std::string text;
  for (const auto& [name, member] : members) {
    if (form == GroupForm::names) text += printable(name) + '\n';
    if (form != GroupForm::json) continue;
    Json json;
    json["name"] = name;
    put_member(json, group, name, member);
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
  if (joined) put_member(json, group, change.name, members.at(change.name));
  return json_line(json);
}

}  // namespace zklock::command
