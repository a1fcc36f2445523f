// SPDX-License-Identifier: Apache-2.0
// Determines from the name of a lock's child what it is. It may be a contender that zklock waits for and that waits for
// zklock, or a node of a program that would not wait. Pure. The forms of the names are taken from the sources of the
// programs named here. zklock-protocol(7) has them as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::recipe {

enum class LockMode { exclusive, shared };

// Programs of one family wait for each other's nodes.
enum class Family {
  standard,    // zklock, Curator's InterProcessMutex, ZooKeeper's WriteLock, go-zookeeper, zk-ruby's ExclusiveLocker
  curator_rw,  // Curator's InterProcessReadWriteLock
  kazoo,       // Kazoo's Lock, ReadLock, WriteLock
};

struct Contender {
  std::string name;
  Family family;
  LockMode mode;
  int64_t number;  // negative once the server's counter has wrapped
};

// Returns the name, up to its number, of a contender with the unique id `uuid` (36 characters, with hyphens). Names of
// the families standard and curator_rw have the form of Curator's protection, "_c_<uuid>-…".
std::string name_of_contender(Family family, LockMode mode, const std::string& uuid);

// Returns, for a message, which options to use in order to stand in line with contenders of the family.
std::string peer_to_use(Family family);

// Returns the contender that has this node name, or nothing if the name is not a contender's.
std::optional<Contender> parse_contender(std::string_view name);

// Returns the same for a child of the folder with slots. Any name with a number counts there, because Curator's
// InterProcessSemaphoreV2 counts all children.
std::optional<Contender> parse_slot(std::string_view name);

// Returns the number that the server has put at the end of a name, after "-" or "__"; nothing if there is none.
std::optional<int64_t> number_in(std::string_view name);

// True if the name is not a contender's, but may be that of another program's node of a lock, an election or a
// semaphore. Such a name may end in a number that the server gave, or has the form of a known program. Only the node's
// Stat shows whether it belongs to a session.
bool may_be_foreign(std::string_view name);

// Returns what such a node belongs to, as in "Curator's LeaderLatch"; empty if the name does not show it.
std::string_view maker_of(std::string_view name);

// True for names of zklock's and Curator's locks and slots, and of Kazoo's locks. A member of a group cannot have such
// a name. WriteLock's form, "x-7-0000000007", is not among them, because any member can have such a name.
bool is_lock_name(std::string_view name);

}  // namespace zklock::recipe
