// SPDX-License-Identifier: Apache-2.0
// Which of the newer requests the servers have been found not to know. They say so, or close the connection on it,
// which also happens for other reasons. Learnt for the whole process, since a new session comes to the same servers.
#pragma once

namespace zklock::zk {

enum class Novelty {
  create_with_stat,  // create2, opcode 15: a create that tells the node's Stat
  container,         // opcode 19
};

enum class Fate { answered, refused, lost };

// Whether it is worth asking for.
bool is_known(Novelty novelty);

// What became of one that was asked for.
void note_fate(Novelty novelty, Fate fate);

// As at the start, for tests.
void forget_novelties();

}  // namespace zklock::zk
