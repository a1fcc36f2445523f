// SPDX-License-Identifier: Apache-2.0
// A contender for a lock, in words. A note that zklock wrote on its node is taken apart; the text of other programs is
// shown as it is.
#pragma once

#include "command/child/note.h"
#include "command/cli/record.h"
#include "recipe/lock/survey.h"

#include <cstdint>
#include <span>
#include <string>

namespace zklock::command {

// A contender, or another node at a lock, as it is shown. What is not known is empty.
struct ShownContender {
  std::string path{};    // of the lock
  int64_t position = 0;  // in line, from 1 on; 0: none
  std::string state{};
  std::string kind{};
  std::string since{};
  std::string session{};
  Note note{};                 // zklock's note on the node; empty if another program wrote the data
  std::string text{};          // the data of another program
  std::string program{};       // the program that a foreign node belongs to
  std::string node{};          // its path
  std::string last_success{};  // of the lock
};

// Returns a node at the lock `path`, which is used as `use`, without its position and the lock's last success.
ShownContender shown_at(const std::string& path, recipe::PathUse use, const recipe::Participant& participant);

// Returns all that is shown of it, everywhere: `show`, with --follow too, `break` and `top`.
std::span<const Field<ShownContender>> contender_fields();

}  // namespace zklock::command
