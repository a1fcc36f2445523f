// SPDX-License-Identifier: Apache-2.0
#include "command/lock/contender.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

using recipe::Participant;
using recipe::PathUse;

namespace {

constexpr size_t kLongestText = 80;

// Returns "" for a node that was gone before it could be read.
std::string since_of(const Participant& participant, const std::optional<Note>& note) {
  if (note && !note->since.empty()) return note->since;
  return participant.stat.created == 0 ? "" : format_utc(participant.stat.created_ms);
}

}  // namespace

Words words_of(const Participant& participant, PathUse use) {
  const auto note = parse_note(participant.data);
  const int64_t session = participant.stat.ephemeral_owner;
  const char* kind = participant.contender.mode == recipe::LockMode::shared ? "shared" : "exclusive";
  return {participant.holding ? "holding" : "waiting",
          use == PathUse::slots ? "slot" : kind,
          since_of(participant, note),
          session == 0 ? "" : zk::session_name(session),
          note.value_or(Note()),
          note ? "" : participant.data,
          ""};
}

Words words_of(const recipe::Bystander& bystander, PathUse use) {
  Words words = words_of(bystander.node, use);
  const bool leftover = bystander.kind == recipe::Bystander::Kind::leftover;
  words.state = leftover ? "leftover" : "foreign";
  if (leftover) return words;
  words.kind.clear();
  words.program = recipe::maker_of(bystander.node.contender.name);
  return words;
}

std::string shown(const std::string& text) {
  return shorten(printable(text), kLongestText);
}

std::string pid_of(const Note& note) {
  return note.pid == 0 ? "" : fmt::format("{}", note.pid);
}

std::string label_of(const Words& words) {
  if (words.text == recipe::kRevoked) return "asked to let go";
  if (!words.program.empty()) return shown(words.program);
  return shown(words.text.empty() ? words.note.label : words.text);
}

void put_contender(nlohmann::ordered_json& json, const Participant& participant, const Words& words) {
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
  put(json, "program", words.program);
}

}  // namespace zklock::command
