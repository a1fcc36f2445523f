// SPDX-License-Identifier: Apache-2.0
// Who stands at a lock, for people to look at. Reads only: nothing is made, written or watched. Nodes come and go
// meanwhile; one that is gone when its turn to be read comes is left out.
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
  std::string data;      // empty where it may not be read
  zk::Stat stat;         // all 0 while the node is not read
  bool holding = false;  // else it waits
  int64_t gate_ms = 0;   // of one that waits with a slot's node: when it came to the gate

  // When it came, by the server's clock, ms since 1970: a holder got the lock then or later.
  int64_t came_ms() const { return gate_ms == 0 ? stat.created_ms : gate_ms; }
};

enum class BystanderKind {
  leftover,  // called like a contender, but in no session: nobody waits for it
  foreign,   // a node of a program that would not wait for zklock, which exits 65 here
};

// A child of a lock that neither holds it nor waits for it.
struct Bystander {
  using Kind = BystanderKind;
  Kind kind;
  Participant node;
};

struct Survey {
  std::string path;
  PathUse use = PathUse::lock;
  std::vector<Participant> participants;  // first come first; of slots who has one, then who waits at the gate
  int64_t last_success_ms = 0;            // by the server's clock, ms since 1970; 0: nobody keeps it
  bool absent = false;                    // the path
  std::string success{};                  // survey_trees: of a free lock, what stands on the node that tells of that

  std::vector<Bystander> bystanders{};

  std::vector<Participant> holders() const;
  std::vector<Participant> leftovers() const;
  // The first node of a foreign program; nothing: none is there.
  const Participant* foreign() const;
};

// Throws a Failure (65) that says what was `tried` if it is not.
void check_is_lock(const Survey& survey, std::string_view tried);

// Returns the contenders below `folder`, of which nothing else is known yet. Pure.
std::vector<Participant> participants_of(const std::string& folder, const std::vector<Contender>& line);

// The line for a lock, with those that hold it marked. Pure.
std::vector<Participant> line_up(std::vector<Participant> line);

// Whoever has a node for a slot holds it, except for the one who stands first at the gate: he goes on through it when
// his is granted. He is listed with that, not twice. Both are in the order of their numbers. Pure.
std::vector<Participant> line_up_for_slots(std::vector<Participant> slots, std::vector<Participant> gate);

// What is at each of `paths`, in that order; where nothing is, a lock that nobody holds. Throws a Failure (77) for a
// path whose children or slots we may not list, and what the session throws.
std::vector<Survey> survey_paths(zk::Session& session, const std::vector<std::string>& paths, Deadline until);

// The locks at and below `roots`, in the order of their paths: nodes with participants, slots, and where a node next to
// it seems to tell of a last success: whoever put `success` there. What we may not list is left out, except for the
// roots; so is what belongs to a queue, and /zookeeper.
std::vector<Survey> survey_trees(zk::Session& session, const std::vector<std::string>& roots, Deadline until);

}  // namespace zklock::recipe
