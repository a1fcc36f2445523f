// SPDX-License-Identifier: Apache-2.0
#include "command/queue/crew.h"

#include <algorithm>

namespace zklock::command {

namespace {

bool is_free(const Worker& worker) {
  return worker.is_free();
}

}  // namespace

Crew::Crew(host::Loop& loop, const host::Program& program, const host::Inherited& inherited, size_t jobs) {
  for (size_t i = 0; i < jobs; ++i) workers_.emplace_back(loop, program, inherited);
  for (Worker& one : workers_) {
    for (const Worker& other : workers_) {
      if (&one != &other) one.guard().spare(other.guard());
    }
  }
}

bool Crew::is_busy() const {
  return !std::all_of(begin(), end(), is_free);
}

Worker* Crew::free() {
  const auto found = std::find_if(begin(), end(), is_free);
  return found == end() ? nullptr : &*found;
}

size_t Crew::free_count() const {
  return static_cast<size_t>(std::count_if(begin(), end(), is_free));
}

void Crew::interrupt(int signal) {
  for (Worker& worker : workers_) {
    if (!worker.is_free()) worker.interrupt(signal);
  }
}

void Crew::stop(host::Loop& loop, Duration grace) {
  for (Worker& worker : workers_) {
    if (!worker.is_free()) worker.guard().finish(grace);
  }
  for (const Worker& worker : workers_) {
    while (!worker.is_free() && !worker.guard().gone()) loop.turn(kNever);
  }
}

Duration Crew::overrun() const {
  Duration longest{};
  for (const Worker& worker : workers_) longest = std::max(longest, worker.guard().overrun());
  return longest;
}

}  // namespace zklock::command
