// SPDX-License-Identifier: Apache-2.0
// The commands that simulated zklocks run under their locks. A command line is `/bin/true MS [ITEM [STATUS]]`: it works
// for MS milliseconds, on ITEM if it is a queue's, and exits with STATUS: after "75?", half of them exit with 0.
#pragma once

#include "world.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zklock::sim {

struct Command {
  Process* zklock;
  std::vector<std::string> paths;      // as in ZKLOCK_PATH: the locks, the queue or the group
  std::vector<std::string> nodes;      // as in ZKLOCK_NODE: the nodes that hold them, or the claim
  std::vector<std::string> tokens;     // as in ZKLOCK_TOKEN
  std::string item;                    // "": none
  std::vector<std::string> variables;  // NAME=VALUE
  bool alive = true;
  Time begun_at = world->now;
};

// Made and ended by the simulated guard (guard.cc), watched by a workload.
struct Commands {
  std::vector<std::shared_ptr<Command>> alive;

  std::function<void(const Command&)> on_begin = [](const Command&) {};
  std::function<void(const Command&)> on_completed = [](const Command&) {};  // it has ended by itself, with 0
  // From now on it may live until `fence`.
  std::function<void(const Command&, Time fence)> on_fence = [](const Command&, Time) {};

  double ignores_term = 0;  // the chance that one does

  uint64_t begun = 0;
  uint64_t killed_at_fence = 0;
};

extern Commands* commands;

}  // namespace zklock::sim
