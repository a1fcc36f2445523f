// SPDX-License-Identifier: Apache-2.0
// One seed of a workload: the hosts, the network and the servers, storms of faults with calm between them, and what has
// to hold whatever the workload is. A workload (workloads.h) starts zklocks and looks at what becomes of them.
#pragma once

#include "commands.h"
#include "ensemble.h"
#include "network.h"
#include "world.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::sim {

struct Options {
  bool faults = true;
  Time storms = 300 * second;    // for so long there are storms; the workload comes to its end after that
  Time longest = 3600 * second;  // the workload has to have come to its end by then
  bool prints = false;
  bool traces = false;
  unsigned without = 0;  // the kinds of faults that are left out, a bit each
};

// What one seed has done, or many.
struct Figures {
  double simulated = 0;  // seconds
  double cpu = 0;        // seconds
  uint64_t requests = 0;
  uint64_t transactions = 0;
  uint64_t elections = 0;
  uint64_t expiries = 0;
  uint64_t faults = 0;
  uint64_t commands = 0;
  uint64_t killed_at_fence = 0;
  uint64_t lost = 0;         // zklocks that have ended with 76
  uint64_t unreachable = 0;  // with 69
  uint64_t killed = 0;
  void add(const Figures& other);
};

class Workload;
struct Ambush;

// How zklocks are told the servers.
enum class Naming {
  addresses,  // which servers keep
  names,      // one for each
  one_name,   // with the addresses of all
};

class Simulation {
 public:
  using Workers = std::unique_ptr<Workload> (*)(Simulation&);

  Simulation(uint64_t seed, const Options& options, Workers make_workload);
  ~Simulation();
  Simulation(const Simulation&) = delete;

  // Runs all of it. What was wrong is in the world.
  Figures run();

  // --- for workloads

  // A new process `zklock WORDS…`, which is told its servers and its session's timeout. `at_end` is called once it has
  // ended or was killed.
  Process& start_zklock(const std::string& name, std::vector<std::string> words, std::function<void(Process&)> at_end);
  // Calls `start` after a while. How long that is, some seconds or tens of them, is the seed's: starts cost most CPU.
  void start_later(std::function<void()> start);
  // Reports a zklock that has ended with something other than `allowed`, 0, or what faults explain: 69, 76 and being
  // killed.
  void check_status(const Process& process, const std::vector<int>& allowed = {});
  // Storms are over for good, or there never were any.
  bool storms_over() const { return world_.now >= storms_end_; }
  // Nothing has failed for the last `span`.
  bool calm_for(Time span) const { return calm_since_ != kNever && world_.now >= calm_since_ + span; }
  // There is one fault at a time, of those that cost no session.
  bool is_harmless() const { return harmless_; }
  // What is committed.
  const Tree& tree() const { return ensemble_->committed(); }
  Ensemble& ensemble() { return *ensemble_; }
  Random& random() { return world_.random; }
  const Options& options() const { return options_; }

 private:
  friend class Faults;
  EnsembleOptions draw_servers(Random& later);
  void storm();
  void calm();
  void strike_later();
  void watch_over();
  std::vector<std::string> addresses_of(const std::string& name) const;
  std::string server_list() const;
  void check_fence(const Command& command, Time fence);
  void check_nodes();
  void check_end();
  std::vector<Process*> living();

  Options options_;
  World world_;
  Network network_;
  Commands commands_;
  std::unique_ptr<Ensemble> ensemble_;
  std::unique_ptr<Workload> workload_;
  Figures figures_;
  Time tick_ = 0;
  Time far_timeout_ = 0;  // of sessions, where servers are far away; 0: they are near
  Naming naming_ = Naming::addresses;
  Time usual_latency_ = 2 * ms;
  Time pause_ = 0;  // the longest between two zklocks, one after the other
  double preemption_ = 0;
  bool harmless_ = false;  // one fault at a time, of those that cost no lock
  unsigned kinds_ = 0;     // of faults that strike, a bit each
  std::vector<Ambush> ambushes_;
  Time storms_end_ = 0;
  int64_t seconds_ = 0;  // that were watched over
  Time calm_since_ = kNever;
};

}  // namespace zklock::sim
