// SPDX-License-Identifier: Apache-2.0
// Who stands in line for a lock, read from the names of its children alone, and whose turn it is. Pure: names in,
// place out.
//
// A contender is a child whose name ends in "-" or "__" and a sequence number: ours
// (_c_<uuid>-lock-0000000007, Curator's form), ZooKeeper's WriteLock (x-<session>-0000000007), Curator's read-write
// lock (…__WRIT__…, …__READ__…), Kazoo's (…__lock__…, …__rlock__…). All other children are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

enum class LockMode { exclusive, shared };

// What Curator's Revoker, and zklock break, write on a holder's node: let go.
constexpr std::string_view kRevoked = "__REVOKE__";

// Whose programs wait for whose names.
enum class Family {
  standard,    // Curator's InterProcessMutex, WriteLock, zklock
  curator_rw,  // Curator's InterProcessReadWriteLock
  kazoo,       // Kazoo's Lock, ReadLock, WriteLock
};

// The name, up to its number, of a contender with the unique id `uuid` (36 characters, with hyphens). Where Curator's
// programs look for their own nodes by id, it is in their form.
std::string name_of_contender(Family family, LockMode mode, const std::string& uuid);

// What --peer calls it.
std::string_view peer_name(Family family);

// What to write to stand in line with contenders of that family.
std::string peer_to_use(Family family);

struct Contender {
  std::string name;
  Family family;
  LockMode mode;
  int64_t number;  // negative once the server's counter has wrapped
};

// The contender that a child's name stands for; nothing for other children.
std::optional<Contender> parse_contender(std::string_view name);

// Whether a member of a group cannot be called so: names of ours and Curator's, read-write locks' and Kazoo's. (One of
// WriteLock's form, "my-lock-0000000007", can be anybody's.)
bool is_lock_name(std::string_view name);

// All contenders, first come first.
std::vector<Contender> line_of(const std::vector<std::string>& names);

// How many hold the lock, from the head of `line` on: the first one alone if it is exclusive, else all shared ones that
// stand before the first exclusive one.
size_t count_holders(const std::vector<Contender>& line);

// The server's counter sticks at the largest int32 and hands out ties, or has wrapped: such a place is none.
bool is_used_up(const Contender& contender);

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
