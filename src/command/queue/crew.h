// SPDX-License-Identifier: Apache-2.0
// The workers of a consumer, as many as it has jobs.
#pragma once

#include "command/queue/workers.h"

#include <deque>

namespace zklock::command {

class Crew {
 public:
  // Forks the guards, which spare each other.
  Crew(host::Loop& loop, const host::Program& program, const host::Inherited& inherited, size_t jobs);

  bool is_busy() const;
  // One that is free, if any.
  Worker* free();
  size_t free_count() const;
  // A signal for all that run.
  void interrupt(int signal);
  // Ends all that runs, TERM first, and waits until nothing of it is left. The workers keep their items.
  void stop(host::Loop& loop, Duration grace);

  // After that: how long something of it lived after the fence.
  Duration overrun() const;

  auto begin() { return workers_.begin(); }
  auto end() { return workers_.end(); }
  auto begin() const { return workers_.begin(); }
  auto end() const { return workers_.end(); }

 private:
  std::deque<Worker> workers_;
};

}  // namespace zklock::command
