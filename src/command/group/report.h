// SPDX-License-Identifier: Apache-2.0
// The members of a group, and changes among them, as text and as JSON. Safe to print, whatever was read.
#pragma once

#include "recipe/group/roster.h"

#include <string>

namespace zklock::command {

enum class GroupForm {
  names,  // one a line
  table,
  json,  // an object a line
};

std::string text_of(const std::string& group, const recipe::Members& members, GroupForm form);

// A line. `members` are those after the change; the one who has joined is among them.
std::string text_of(const std::string& group, const recipe::MemberChange& change, const recipe::Members& members,
                    GroupForm form);

}  // namespace zklock::command
