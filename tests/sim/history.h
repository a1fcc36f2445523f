// SPDX-License-Identifier: Apache-2.0
// The states that something was in, as they were committed, and checks of what zklocks report about them.
#pragma once

#include "simulation.h"

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace zklock::sim {

// How long something may take. Where servers are far away, or answer late, it is so many of the longest round trips
// more.
struct Limit {
  Time near;
  int trips;
  operator Time() const { return near + trips * network->longest_trip; }
};

inline constexpr Limit kReconnected{30 * second, 10};  // after a storm, until all zklocks are connected again
inline constexpr Limit kNoticed{5 * second, 8};        // in calm, until every zklock has seen a change
inline constexpr Limit kEnded{12 * second, 8};         // even in a storm, until a zklock has ended whose time is over
inline constexpr Limit kConnected{2 * second, 4};      // in calm, until a new zklock is connected

// The process that has made a node, from the node's data; 0: it does not say.
inline int pid_in(const std::string& data) {
  const size_t at = data.find("\"pid\":");
  return at == std::string::npos ? 0 : std::atoi(data.c_str() + at + 6);
}

template <class State>
class History {
 public:
  using IsWanted = std::function<bool(const State&)>;

  // At first it is in the state `State{}`.
  explicit History(Simulation& simulation) : simulation_(simulation), states_{{0, State{}}} {}

  void add(State state) { states_.push_back({world->now, std::move(state)}); }
  const State& now() const { return states_.back().state; }
  Time since() const { return states_.back().since; }  // so long
  const State& at(size_t index) const { return states_[index].state; }
  size_t size() const { return states_.size(); }
  // Storms and the last change were so long ago that each zklock has noticed, if it is not new.
  bool is_settled(const Process& process) const {
    return simulation_.calm_for(kReconnected) && world->now - states_.back().since > kNoticed &&
           world->now - process.started_at > kNoticed;
  }

  // Reports a process if there was no such state in its life.
  void check_was(const Process& process, const IsWanted& is_wanted) const {
    for (size_t index = states_.size(); index-- > 0;) {
      if (is_wanted(states_[index].state)) return;
      if (states_[index].since < process.started_at) break;
    }
    world->violation(
        fmt::format("{} ends with {} {}, and that was never so", process.name, process.status, process.printed));
  }

  // Reports a process that has waited for such a state, for `bound` at most (0: it was to look once), if it should not
  // have ended with 0, or with 75, now.
  void check_wait(const Process& process, const IsWanted& is_wanted, Time bound) const {
    if (process.status == 0) return check_was(process, is_wanted);
    const Time lived = world->now - process.started_at;
    if (lived < bound) world->violation(process.name + " does not wait as long as it should");
    const bool is_late = bound > 0 && lived > bound + process.stood_still + kEnded;
    if (is_late) world->violation(process.name + " waits for too long");
    if (!simulation_.calm_for(lived + kReconnected)) return;
    if (lived > bound + kNoticed) world->violation(process.name + " waits longer than it should");
    if (is_settled(process) && is_wanted(now())) world->violation(process.name + " has missed what it waited for");
  }

  // A bound for a wait, in whole milliseconds; often short.
  Time draw_bound() const {
    Random& random = simulation_.random();
    return random.chance(0.1) ? 0 : (kConnected + random.span(60 * second)) / ms * ms;
  }

 private:
  struct Moment {
    Time since;
    State state;
  };
  Simulation& simulation_;
  std::vector<Moment> states_;
};

}  // namespace zklock::sim
