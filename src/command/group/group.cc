// SPDX-License-Identifier: Apache-2.0
#include "command/group/group.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/metrics.h"
#include "command/cli/output.h"
#include "command/cli/record.h"
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

// A member, as it is shown.
struct ShownMember {
  std::string group;
  std::string name;
  const Member* member;
};

constexpr Field<ShownMember> kFieldList[] = {
    {"MEMBER", "name", [](const ShownMember& s) { return FieldValue(s.name); }, 0, true, true},
    {"", "node", [](const ShownMember& s) { return FieldValue(zk::child_of(s.group, s.name)); }},
    {"SINCE", "since", [](const ShownMember& s) { return FieldValue(format_utc(s.member->stat.created_ms)); }, 2},
    {"SESSION", "session",
     [](const ShownMember& s) { return FieldValue(zk::session_name(s.member->stat.ephemeral_owner)); }, 1},
    {"DATA", "data", [](const ShownMember& s) { return FieldValue(s.member->data); }, 3, true},
};

constexpr std::span<const Field<ShownMember>> kMemberFields = kFieldList;

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

std::string text_of(const std::string& group, const Members& members, Format format) {
  if (format == Format::prometheus) return count_of(group, members);
  std::string text;
  for (const auto& [name, member] : members) {
    Json json;
    if (format == Format::json) put_members(json, kMemberFields, {group, name, &member});
    text += format == Format::json ? json_line(json) : printable(name) + '\n';
  }
  return text;
}

std::string table_of(const std::string& group, const Members& members, std::optional<size_t> columns) {
  std::vector<ShownMember> all;
  for (const auto& [name, member] : members) all.push_back({group, name, &member});
  return fitted_table(kMemberFields, all, columns);
}

std::string text_of(const std::string& group, const MemberChange& change, const Members& members, bool json) {
  if (!json) return fmt::format("{}{}\n", change.joined ? '+' : '-', printable(change.name));
  Json object;
  object["change"] = change.joined ? "joined" : "left";
  object["name"] = change.name;
  if (change.joined) put_members(object, kMemberFields, {group, change.name, &members.at(change.name)});
  return json_line(object);
}

}  // namespace zklock::command
