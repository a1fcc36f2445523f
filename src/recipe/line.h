// SPDX-License-Identifier: Apache-2.0
// Who stands in line for a lock, read from the names of its children alone, and whose turn it is. Pure: names in,
// place out.
#pragma once

#include "recipe/names.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

// What Curator's Revoker, and zklock break, write on a holder's node: let go.
constexpr std::string_view kRevoked = "__REVOKE__";

// Returns all contenders for a lock among the names of its children, first come first.
std::vector<Contender> line_of(const std::vector<std::string>& names);
// Returns all slots among the names below the folder with slots, first come first.
std::vector<Contender> slots_of(const std::vector<std::string>& names);

// How many hold the lock, from the head of `line` on: the first one alone if it is exclusive, else all shared ones that
// stand before the first exclusive one.
size_t count_holders(const std::vector<Contender>& line);

// The server's counter sticks at the largest int32 and hands out ties, or has wrapped: such a place is none.
bool is_used_up(int64_t number);

enum class Turn {
  mine,      // nobody stands before me whom I must wait for
  waiting,   // watch `predecessor`
  gone,      // my node is not there
  strangers  // `predecessor` belongs to another family, whose programs would not wait for me
};

struct Place {
  Turn turn;
  std::string predecessor;  // the nearest contender that I must wait for; see `strangers`
  std::string holder;       // the first in line, while waiting
  size_t before = 0;        // how many stand before me, whether I must wait for them or not
};

// Where `mine` stands in `line`. An exclusive contender waits for its direct predecessor, a shared one for the nearest
// exclusive one before it. `with_kazoo`: Kazoo's contenders are no strangers.
Place find_place(const std::vector<Contender>& line, std::string_view mine, bool with_kazoo = false);

}  // namespace zklock::recipe
