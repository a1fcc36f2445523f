// SPDX-License-Identifier: Apache-2.0
// What the names of the nodes below a path say: what the path is used for, and who stands there. Their nodes are not
// read.
#pragma once

#include "recipe/line.h"
#include "zk/session.h"

#include <string>
#include <vector>

namespace zklock::recipe {

struct Participant {
  Contender contender;
  std::string node;      // its path
  std::string data;      // empty where it may not be read
  zk::Stat stat;         // all 0 while the node is not read
  bool holding = false;  // else it waits
};

enum class Use {
  lock,   // or nothing
  slots,  // Curator's InterProcessSemaphoreV2: leases, and a lock as the gate to them
  queue,
  group,
};

struct Listing {
  std::string path;
  zk::Answer answer;         // the list of its children
  zk::Answer leases_answer;  // the list of what may be leases
  Use use = Use::lock;
  std::vector<Participant> leases;  // of slots, in the order of their numbers
  std::vector<Participant> line;    // of a lock, or of the gate to slots: first come first
  std::vector<std::string> below;   // where other locks may be; nothing of a queue, nor /zookeeper
};

// One for each of `paths`, in that order. Throws what the session throws.
std::vector<Listing> list(zk::Session& session, const std::vector<std::string>& paths, Deadline until);

// Throws a Failure if the path could not be listed; a path that does not exist is fine.
void check_listed(const Listing& listing);

// Throws a Failure (77) if there may be leases that we may not see.
void check_leases(const Listing& listing);

}  // namespace zklock::recipe
