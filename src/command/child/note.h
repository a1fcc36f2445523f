// SPDX-License-Identifier: Apache-2.0
// The note that zklock writes on its node for people to read: a JSON object with host, pid, user, command, label,
// since and, if they apply, slots, token and queue. This header also has the words for such a note, or for any other
// data on a node.
#pragma once

#include "recipe/lock/lock.h"

#include <optional>
#include <string>

namespace zklock::command {

struct Note {
  std::string host;
  int64_t pid = 0;
  std::string user;
  std::string command;  // the program's name only; its arguments may hold secrets
  std::string label;    // the user's own text
  std::string since;    // RFC 3339, UTC
  int64_t slots = 0;    // how many holders there may be; 0: the node is not for slots
  int64_t token = 0;    // of the lock, in a record of a success under it; else 0
  int64_t queue = 0;    // on a place in line at a queue: the newest form of a queue that its consumer knows; else 0
};

std::string host_name();

// Returns this process's note, with `since` set to now.
Note own_note(const std::string& command, const std::string& label);

std::string to_json(const Note& note);

// Returns the note in `data`; nothing if another program wrote `data`. Members that are missing or of another type are
// left empty.
std::optional<Note> parse_note(const std::string& data);

// Returns "web1 (pid 4121, nightly)", or "'text'" for the text of another program: one line, safe to print.
std::string describe_note(const std::string& data);

// Returns "held by web1 (pid 4121) for 3m", or "held by 'text' for 3m" for the text of another program: one line, safe
// to print.
std::string describe_holder(const recipe::Holder& holder);

}  // namespace zklock::command
