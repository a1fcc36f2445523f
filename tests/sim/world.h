// SPDX-License-Identifier: Apache-2.0
// The simulated world: virtual time, the events that are due in it, the one source of random numbers, the log, and the
// simulated processes (process.h). There is one at a time, `world`; a seed decides everything that happens in it.
#pragma once

#include "process.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace zklock::sim {

using Time = int64_t;  // ns of virtual time since the simulated hosts' boot
inline constexpr Time us = 1000;
inline constexpr Time ms = 1000 * us;
inline constexpr Time second = 1000 * ms;
inline constexpr Time kNever = INT64_MAX;
inline constexpr Time kWallClock = 1'800'000'000 * second;  // the wall clock at time 0, since 1970

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x1234567) {}
  uint64_t next();
  int64_t below(int64_t count) { return count <= 0 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(count)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability; }
  // Often short: half of the spans are below a tenth of `longest`.
  Time span(Time longest) { return chance(0.5) ? below(longest / 10) : below(longest); }
  template <class List>
  auto& one_of(List& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(std::size(list))))];
  }

 private:
  uint64_t state_;
};

class World {
 public:
  using Action = std::function<void()>;

  explicit World(uint64_t seed) : random(seed) {}
  World(const World&) = delete;

  Time now = 1000 * second;
  Random random;

  // `action` happens at `when`, or now if that is past; events of the same time happen in the order of these calls.
  void at(Time when, Action action);
  void in(Time span, Action action) { at(now + span, std::move(action)); }

  // Runs events until none is left, one is due after `until`, `done` returns true, or something was wrong.
  void run(Time until, const std::function<bool()>& done);

  // A process that is due to run now. It lives as long as the world.
  Process& start(std::string name, std::function<int()> body);
  const std::vector<std::unique_ptr<Process>>& processes() const { return processes_; }

  // The process that runs now; null while an event happens.
  Process* current = nullptr;
  // Runs `process` at `when`, or when it is no longer stopped.
  void schedule(Process& process, Time when);
  // By the current process: returns when `span` has passed.
  void sleep(Time span);
  // By the current process in a system call: now and then another one runs first, and time passes.
  void maybe_preempt();
  double preemption = 0;  // the chance of that
  Time longest_preemption = 0;

  // One line of the log, with the time before it.
  void log(std::string_view text);
  void violation(const std::string& text);
  // The first violation, or "".
  const std::string& first_violation() const { return violation_; }
  uint64_t hash() const { return hash_; }  // of the log: the same for the same seed
  bool prints = false;                     // the log, to standard output
  bool traces = false;                     // requests and answers are in the log too

 private:
  struct Event {
    Time at;
    uint64_t order;
    Action action;
    bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  int at_once_ = 0;  // events since time has passed
  std::vector<std::unique_ptr<Process>> processes_;
  std::string violation_;
  uint64_t hash_ = 14695981039346656037ULL;
};

extern World* world;

template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  world->log(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace zklock::sim
