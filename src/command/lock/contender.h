// SPDX-License-Identifier: Apache-2.0
// A contender for a lock, in words. A note that zklock wrote on its node is taken apart; the text of other programs is
// shown as it is.
#pragma once

#include "command/child/note.h"
#include "recipe/lock/survey.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// The words for a contender or a bystander. Unknown ones are empty.
struct Words {
  std::string state;
  std::string kind;
  std::string since;
  std::string session;
  Note note;            // zklock's note on the node; empty if another program wrote the data
  std::string text;     // the data of another program
  std::string program;  // the program that a foreign node belongs to
};

Words words_of(const recipe::Participant& participant, recipe::PathUse use);
Words words_of(const recipe::Bystander& bystander, recipe::PathUse use);

// Returns `text` on one line, printable and shortened.
std::string shown(const std::string& text);
std::string pid_of(const Note& note);
std::string label_of(const Words& words);

// Adds what is known of the contender to `json`: "kind", "since", "host" and so on, then "node", "text" and "program".
void put_contender(nlohmann::ordered_json& json, const recipe::Participant& participant, const Words& words);

}  // namespace zklock::command
