// SPDX-License-Identifier: Apache-2.0
// Says from the name of a lock's child alone whose it is: a contender that zklock waits for and that waits for zklock,
// or a node of a program that would not wait. Pure. The forms are those of the sources of the programs named here;
// zklock-protocol(7) has them as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::recipe {

enum class LockMode { exclusive, shared };

// Whose programs wait for whose names.
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

// Returns the name, up to its number, of a contender with the unique id `uuid` (36 characters, with hyphens). It is in
// the form of Curator's programs if they look for their own nodes by that id.
std::string name_of_contender(Family family, LockMode mode, const std::string& uuid);

// Returns what --peer calls the family.
std::string_view peer_name(Family family);

// Returns what to write to stand in line with contenders of the family.
std::string peer_to_use(Family family);

// Returns the contender that the name of a child stands for; nothing for all other names.
std::optional<Contender> parse_contender(std::string_view name);

// Returns the same for a child of the folder with slots. Any name with a number counts there, because Curator's
// InterProcessSemaphoreV2 counts all children.
std::optional<Contender> parse_slot(std::string_view name);

// Returns the number that the server has put at the end of a name, behind "-" or "__".
std::optional<int64_t> number_in(std::string_view name);

// True if the name is no contender's, but of a form that programs give to nodes of a lock, an election or a semaphore:
// it may end in a number of the server's. Only its Stat tells whether it belongs to a session.
bool may_be_foreign(std::string_view name);

// Returns what such a node belongs to, as in "Curator's LeaderLatch"; nothing if the name does not tell.
std::string_view maker_of(std::string_view name);

// True for the names of zklock's locks and slots, Curator's, and Kazoo's locks, which a member of a group cannot have.
// A name of WriteLock's form, "x-7-0000000007", can be any member's.
bool is_lock_name(std::string_view name);

}  // namespace zklock::recipe
