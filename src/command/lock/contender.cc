// SPDX-License-Identifier: Apache-2.0
#include "command/lock/contender.h"

#include "base/text.h"
#include "base/time.h"

namespace zklock::command {

using recipe::Participant;
using recipe::PathUse;

namespace {

using Shown = ShownContender;

// Returns the label for a table: also the text of another program, or the program that a foreign node belongs to.
std::string label_in_table(const Shown& shown) {
  if (shown.text == recipe::kRevoked) return "asked to let go";
  if (!shown.program.empty()) return shown.program;
  return shown.text.empty() ? shown.note.label : shown.text;
}

constexpr Field<Shown> kContenderFields[] = {
    {"LOCK", "", [](const Shown& s) { return known(s.path); }, 0, true, true},
    {"POS", "position", [](const Shown& s) { return s.position == 0 ? FieldValue() : FieldValue(s.position); }, 4},
    {"STATE", "state", [](const Shown& s) { return known(s.state); }, 11},
    {"KIND", "kind", [](const Shown& s) { return known(s.kind); }, 3},
    {"SINCE", "since", [](const Shown& s) { return known(s.since); }, 9},
    {"HOST", "host", [](const Shown& s) { return known(s.note.host); }, 10, true},
    {"PID", "pid", [](const Shown& s) { return s.note.pid == 0 ? FieldValue() : FieldValue(s.note.pid); }, 5},
    {"USER", "user", [](const Shown& s) { return known(s.note.user); }, 2, true},
    {"COMMAND", "command", [](const Shown& s) { return known(s.note.command); }, 7, true},
    {"", "label", [](const Shown& s) { return known(s.note.label); }},
    {"SESSION", "session", [](const Shown& s) { return known(s.session); }, 1},
    {"LAST-SUCCESS", "", [](const Shown& s) { return known(s.last_success); }, 6},
    {"LABEL", "", [](const Shown& s) { return known(label_in_table(s)); }, 8, true},
    {"", "node", [](const Shown& s) { return known(s.node); }},
    {"", "text", [](const Shown& s) { return known(s.text); }},
    {"", "program", [](const Shown& s) { return known(s.program); }},
};

}  // namespace

ShownContender shown_at(const std::string& path, PathUse use, const Participant& participant) {
  ShownContender shown;
  shown.path = path;
  shown.node = participant.node;
  shown.state = participant.holding ? "holding" : "waiting";
  shown.kind = participant.contender.mode == recipe::LockMode::shared ? "shared" : "exclusive";
  if (use == PathUse::slots) shown.kind = "slot";
  const auto note = parse_note(participant.data);
  shown.note = note.value_or(Note());
  if (!note) shown.text = participant.data;
  shown.since = shown.note.since;
  // A node that was gone before it could be read has no Stat.
  if (shown.since.empty() && !participant.is_gone()) shown.since = format_utc(participant.stat.created_ms);
  if (const int64_t session = participant.stat.ephemeral_owner) shown.session = zk::session_name(session);
  return shown;
}

std::span<const Field<ShownContender>> contender_fields() {
  return kContenderFields;
}

}  // namespace zklock::command
