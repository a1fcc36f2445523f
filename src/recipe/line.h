// SPDX-License-Identifier: Apache-2.0
// Determines from the names of a lock's children which contenders stand in its line, and whose turn it is. Pure.
#pragma once

#include "recipe/names.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// Curator's Revoker and `zklock break` write this on a holder's node. It asks the holder to let go.
constexpr std::string_view kRevoked = "__REVOKE__";

// Returns all contenders for a lock among the names of its children, first come first.
std::vector<Contender> line_of(const std::vector<std::string>& names);
// Returns all slots among the names below the folder with slots, first come first.
std::vector<Contender> slots_of(const std::vector<std::string>& names);

// Returns how many contenders hold the lock, from the head of `line` on. If the first is exclusive, it alone does, else
// all shared ones before the first exclusive one.
size_t count_holders(const std::vector<Contender>& line);

// True if a node's number is no place in line: the server's counter sticks at the largest int32 and hands out ties, or
// it has wrapped.
bool is_used_up(int64_t number);

enum class Turn {
  mine,      // no contender that we must wait for stands before us
  waiting,   // watch `predecessor`
  gone,      // our node is not there
  strangers  // `predecessor` is of another family, whose programs would not wait for us
};

struct Place {
  Turn turn;
  std::string predecessor;  // the nearest contender that we must wait for; see `strangers`
  std::string holder;       // while waiting: the first in line
  size_t before = 0;        // how many contenders stand before us, whether we must wait for them or not
};

// Returns where `mine` stands in `line`. An exclusive contender waits for the one directly before it, a shared one for
// the nearest exclusive one before it. If `with_kazoo`, contenders of Kazoo's family are accepted too.
Place find_place(const std::vector<Contender>& line, std::string_view mine, bool with_kazoo = false);

}  // namespace zklock::recipe
