// SPDX-License-Identifier: Apache-2.0
#include "command/lock/report.h"

#include "base/text.h"
#include "base/time.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "command/cli/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::Participant;
using recipe::Survey;
using recipe::Use;

constexpr size_t kLongestText = 80;

// In a terminal that is narrow.
const Table::Yielding kYielding{{"SESSION", "USER", "KIND", "POS", "PID", "LAST-SUCCESS", "COMMAND"},
                                {"LOCK", "HOST", "USER", "COMMAND", "LABEL"}};

// A participant in words; what is not known is empty.
struct Words {
  std::string state;
  std::string kind;
  std::string since;
  std::string session;
  Note note;         // of zklock
  std::string text;  // of another program
};

std::string kind_of(const Participant& participant, Use use) {
  if (use == Use::slots) return "slot";
  switch (participant.contender.kind) {
    case recipe::Kind::exclusive:
      return "exclusive";
    case recipe::Kind::shared:
      return "shared";
  }
  return "";
}

std::string session_of(const Participant& participant) {
  const int64_t owner = participant.stat.ephemeral_owner;
  return owner == 0 ? "" : zk::session_name(owner);
}

Words words_of(const Participant& participant, Use use) {
  const auto note = parse_note(participant.data);
  const bool told = note && !note->since.empty();
  return {participant.holding ? "holding" : "waiting",
          kind_of(participant, use),
          told ? note->since : format_utc(participant.stat.created_ms),
          session_of(participant),
          note.value_or(Note()),
          note ? "" : participant.data};
}

std::string shown(const std::string& text) {
  return shorten(printable(text), kLongestText);
}

std::string pid_of(const Note& note) {
  return note.pid == 0 ? "" : fmt::format("{}", note.pid);
}

std::string label_of(const Words& words) {
  if (words.text == recipe::kRevoked) return "asked to let go";
  return shown(words.text.empty() ? words.note.label : words.text);
}

std::string last_success_of(const Survey& survey) {
  return survey.last_success_ms == 0 ? "" : format_utc(survey.last_success_ms);
}

host::Colour colour_of(const std::string& state) {
  if (state == "holding") return host::Colour::green;
  return state == "waiting" ? host::Colour::yellow : host::Colour::none;
}

std::vector<std::vector<std::string>> rows_of(const Survey& survey) {
  if (survey.participants.empty()) {
    return {{survey.path, "", "free", survey.use == Use::slots ? "slot" : "", "", "", "", "", "", "", ""}};
  }
  std::vector<std::vector<std::string>> rows;
  for (const Participant& participant : survey.participants) {
    const Words words = words_of(participant, survey.use);
    rows.push_back({survey.path, fmt::format("{}", rows.size() + 1), words.state, words.kind, shown(words.since),
                    shown(words.note.host), pid_of(words.note), shown(words.note.user), shown(words.note.command),
                    words.session, label_of(words)});
  }
  return rows;
}

using Json = nlohmann::ordered_json;

Json json_of(const Participant& participant, Use use, size_t position) {
  const Words words = words_of(participant, use);
  Json json;
  json["position"] = position;
  put(json, "state", words.state);
  put(json, "kind", words.kind);
  put(json, "since", words.since);
  put(json, "host", words.note.host);
  if (words.note.pid != 0) json["pid"] = words.note.pid;
  put(json, "user", words.note.user);
  put(json, "command", words.note.command);
  put(json, "label", words.note.label);
  put(json, "session", words.session);
  put(json, "node", participant.node);
  put(json, "text", words.text);
  return json;
}

// How many there are says the latest one who says it.
int64_t slots_of(const Survey& survey) {
  int64_t slots = 0;
  for (const Participant& participant : survey.participants) {
    const auto note = parse_note(participant.data);
    if (note && note->slots != 0) slots = note->slots;
  }
  return slots;
}

}  // namespace

std::string table_of(const std::vector<Survey>& surveys, const host::Display& display) {
  if (surveys.empty()) return "";
  const bool once_per = std::any_of(surveys.begin(), surveys.end(), [](const Survey& s) { return s.last_success_ms; });
  std::vector<std::string> heads = {"LOCK", "POS",  "STATE",   "KIND",    "SINCE", "HOST",
                                    "PID",  "USER", "COMMAND", "SESSION", "LABEL"};
  if (once_per) heads.insert(heads.end() - 1, "LAST-SUCCESS");
  Table table(heads);
  if (display.colours == host::Colours::on) table.paint("STATE", colour_of);
  for (const Survey& survey : surveys) {
    for (auto& row : rows_of(survey)) {
      if (once_per) row.insert(row.end() - 1, last_success_of(survey));
      table.add(row);
    }
  }
  if (display.columns) table.fit(*display.columns, kYielding);
  return table.text();
}

std::string json_of(const Survey& survey) {
  Json json;
  json["path"] = survey.path;
  json["state"] = survey.holders().empty() ? "free" : "held";
  put(json, "last_success", last_success_of(survey));
  if (const int64_t slots = slots_of(survey)) json["slots"] = slots;
  json["contenders"] = Json::array();
  for (const Participant& participant : survey.participants) {
    json["contenders"].push_back(json_of(participant, survey.use, json["contenders"].size() + 1));
  }
  return json_line(json);
}

std::string table_of_holders(const std::vector<Participant>& holders) {
  Table table({"HOST", "PID", "COMMAND", "SINCE", "LABEL"});
  for (const Participant& holder : holders) {
    const Words words = words_of(holder, Use::lock);
    table.add(
        {shown(words.note.host), pid_of(words.note), shown(words.note.command), shown(words.since), label_of(words)});
  }
  return table.text();
}

}  // namespace zklock::command
