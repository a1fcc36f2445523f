// SPDX-License-Identifier: Apache-2.0
// What zklock writes on its node for people to read: a JSON object with host, pid, user, command, label and since. And
// what it makes of such a note, or of whatever else it finds on somebody's node.
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
  std::string label;    // what the user wants to be read
  std::string since;    // RFC 3339, UTC
  int64_t slots = 0;    // how many holders there may be; 0: not a holder of slots
  int64_t token = 0;    // of the lock, on a record of what was done under it
};

std::string host_name();

// This process's, as of now.
Note own_note(const std::string& command, const std::string& label);

std::string to_json(const Note& note);

// Nothing for text of other programs. What is missing or of another type is empty.
std::optional<Note> parse_note(const std::string& data);

// "web1 (pid 4121, nightly)"; with other people's text, "'text'". One line, safe to print.
std::string describe_note(const std::string& data);

// "held by web1 (pid 4121) for 3m"; with other people's text, "held by 'text' for 3m". One line, safe to print.
std::string describe_holder(const recipe::Holder& holder);

}  // namespace zklock::command
