// SPDX-License-Identifier: Apache-2.0
// Lists which contenders stand at a lock, for people to read. It reads only: it makes, writes and watches nothing.
// Nodes come and go meanwhile; one that is gone before it is read is left out.
#pragma once

#include "recipe/line.h"
#include "recipe/use.h"
#include "zk/session.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::recipe {

struct Participant {
  Contender contender;
  std::string node;      // its path
  std::string data{};    // empty if it may not be read
  zk::Stat stat{};       // all 0 while the node has not been read
  bool holding = false;  // false: it waits
  int64_t gate_ms = 0;   // for a contender that waits with a slot's node: when it came to the gate

  // Returns when it came, by the server's clock, ms since 1970. A holder got the lock then or later.
  int64_t came_ms() const { return gate_ms == 0 ? stat.created_ms : gate_ms; }
  // After its Stat was asked for: true if the node was gone by then.
  bool is_gone() const { return stat.created == 0; }
  // After its Stat was asked for: true for a node that is called like a contender and is none; see recipe/use.h.
  bool is_left_over() const { return !is_gone() && is_leftover(contender, stat); }
};

struct Survey {
  std::string path;
  PathUse use = PathUse::lock;
  std::vector<Participant> participants{};  // first come first; for slots: the holders, then those at the gate
  int64_t last_success_ms = 0;              // by the server's clock, ms since 1970; 0: not recorded
  bool absent = false;                      // there is no node at `path`
  std::string success{};                    // survey_trees(), free lock: the data of the last success's node
  // Children that neither hold the lock nor wait for it.
  std::vector<Participant> leftovers{};  // they have contenders' names, but are in no session: no contender waits
  std::vector<Participant> foreign{};    // of programs that would not wait for zklock, which exits with 65 here

  std::vector<Participant> holders() const;
};

// Throws a Failure (65) that says what was `tried` if the path is used for something else than a lock.
void check_is_lock(PathUse use, std::string_view tried);

// Returns the contenders below `folder`, about which only the name is known yet. Pure.
std::vector<Participant> participants_of(const std::string& folder, const std::vector<Contender>& line);

// True if `waiting`, which stands in the gate of slots, may have made `slot`: it has the same session, and came before
// that. The names do not show it, because other programs give the two nodes different ids. Pure.
bool may_have_made(const Participant& waiting, const Participant& slot);

// Returns the line for a lock with the holders marked. Pure.
std::vector<Participant> line_up(std::vector<Participant> line);

// Returns the line for slots, first the slots, then the gate, both in the order of their numbers. A contender with a
// slot's node holds it, unless it is also the first at the gate: until its slot is granted, it waits there. It is then
// listed once, with its slot. Pure.
std::vector<Participant> line_up_for_slots(std::vector<Participant> slots, std::vector<Participant> gate);

// Returns what is at each of `paths`, in that order; for a path without a node, a free lock. Throws a Failure (77) for
// a path whose children or slots we may not list, 69 if the session expires, and what the session throws. `last`: the
// session ends behind the last reads, see zk::read_and_end().
std::vector<Survey> survey_paths(zk::Session& session, const std::vector<std::string>& paths, bool last = false);

// Returns the locks at and below `roots`, in the order of their paths. These are nodes with participants or leftovers,
// slots, and free locks beside which a node seems to record a last success. Any program may have written `success`
// there. Paths below the roots that we may not list are left out, and so are nodes of queues, and /zookeeper. Throws
// what survey_paths() throws.
std::vector<Survey> survey_trees(zk::Session& session, const std::vector<std::string>& roots);

}  // namespace zklock::recipe
