// SPDX-License-Identifier: Apache-2.0
#include "command/lock/contender.h"

#include "base/text.h"
#include "base/time.h"

namespace zklock::command {

using recipe::Participant;
using recipe::PathUse;

namespace {

// Returns "" for a node that was gone before it could be read.
std::string since_of(const Participant& participant, const std::optional<Note>& note) {
  if (note && !note->since.empty()) return note->since;
  return participant.stat.created == 0 ? "" : format_utc(participant.stat.created_ms);
}

// Returns the label for a table: also the text of another program, or the program that a foreign node belongs to.
std::string shown_label(const Words& words) {
  if (words.text == recipe::kRevoked) return "asked to let go";
  if (!words.program.empty()) return words.program;
  return words.text.empty() ? words.note.label : words.text;
}

using Shown = ShownContender;

constexpr Field<Shown> kContenderFields[] = {
    {"LOCK", "", [](const Shown& s) { return known(s.path); }, 0, true, true},
    {"POS", "position", [](const Shown& s) { return s.position == 0 ? FieldValue() : FieldValue(s.position); }, 4},
    {"STATE", "state", [](const Shown& s) { return known(s.words.state); }, 11},
    {"KIND", "kind", [](const Shown& s) { return known(s.words.kind); }, 3},
    {"SINCE", "since", [](const Shown& s) { return known(s.words.since); }, 9},
    {"HOST", "host", [](const Shown& s) { return known(s.words.note.host); }, 10, true},
    {"PID", "pid", [](const Shown& s) { return s.words.note.pid == 0 ? FieldValue() : FieldValue(s.words.note.pid); },
     5},
    {"USER", "user", [](const Shown& s) { return known(s.words.note.user); }, 2, true},
    {"COMMAND", "command", [](const Shown& s) { return known(s.words.note.command); }, 7, true},
    {"", "label", [](const Shown& s) { return known(s.words.note.label); }},
    {"SESSION", "session", [](const Shown& s) { return known(s.words.session); }, 1},
    {"LAST-SUCCESS", "", [](const Shown& s) { return known(s.last_success); }, 6},
    {"LABEL", "", [](const Shown& s) { return known(shown_label(s.words)); }, 8, true},
    {"", "node", [](const Shown& s) { return known(s.node); }},
    {"", "text", [](const Shown& s) { return known(s.words.text); }},
    {"", "program", [](const Shown& s) { return known(s.words.program); }},
};

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

std::span<const Field<ShownContender>> contender_fields() {
  return kContenderFields;
}

}  // namespace zklock::command
