// SPDX-License-Identifier: Apache-2.0
// A contender for a lock in words: what zklock has written on its node is taken apart, the text of other programs is
// shown as it is.
#pragma once

#include "command/child/note.h"
#include "recipe/lock/survey.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// What is not known is empty.
struct Words {
  std::string state;
  std::string kind;
  std::string since;
  std::string session;
  Note note;            // of zklock
  std::string text;     // of another program
  std::string program;  // what a foreign node belongs to
};

Words words_of(const recipe::Participant& participant, recipe::PathUse use);
Words words_of(const recipe::Bystander& bystander, recipe::PathUse use);

// On one line, and not too long.
std::string shown(const std::string& text);
std::string pid_of(const Note& note);
std::string label_of(const Words& words);

// Adds what is known of it to an object: "kind", "since", "host" and so on, to "node" and "text".
void put_contender(nlohmann::ordered_json& json, const recipe::Participant& participant, const Words& words);

}  // namespace zklock::command
