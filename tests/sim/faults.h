// SPDX-License-Identifier: Apache-2.0
// The kinds of faults. A storm strikes with some of them, at random moments; a seed that has found something is run
// again without each kind, to find those that it needs.
#pragma once

#include "simulation.h"

#include <span>

namespace zklock::sim {

class Faults;

inline constexpr Time kBetween = 12 * second;  // between two harmless faults, at least

// A fault that lies in wait for one of the next frames that servers send to a host: where it hurts, and chance rarely
// strikes.
struct Ambush {
  int client;
  uint64_t after;  // on connections with a larger serial number
  int frame;       // how many frames are let through, on one connection or in all
  bool on_one;
  Time delay;  // between that frame and the strike
  void (*strike)(Faults&, Connection&, Process&);
};

class Faults {
 public:
  struct Kind {
    const char* name;
    void (*strike)(Faults&);
    int weight;
  };
  static std::span<const Kind> kinds();

  explicit Faults(Simulation& of) : simulation(of), random(of.world_.random) {}

  // Draws a kind. Nothing happens if it is switched off in this seed.
  void strike();
  // One fault that costs no lock by itself. It is over before the next one.
  void strike_harmlessly();
  // A frame is on its way to a host.
  void on_frame(Connection& connection);

  // --- for the kinds
  Simulation& simulation;
  Random& random;
  Ensemble& ensemble() { return *simulation.ensemble_; }
  Network& network() { return simulation.network_; }
  World& world() { return simulation.world_; }
  Time tick() const { return simulation.tick_; }
  int servers() const { return simulation.ensemble_->size(); }
  int any_server() { return static_cast<int>(random.below(servers())); }
  Process* any_process();
  std::vector<Process*> processes() { return simulation.living(); }
  bool stormy() const { return simulation.calm_since_ == kNever; }
  void add(const Ambush& ambush) { simulation.ambushes_.push_back(ambush); }
  void forget_ambushes() { simulation.ambushes_.clear(); }
  void set_latency(Time latency) { network().latency_max = latency; }
  bool may_move() const { return simulation.naming_ != Naming::addresses; }
  Time usual_latency() const { return simulation.usual_latency_; }
  void cut_off(const Process& process, int server, bool up, bool down, Time until);
  void part(int server, int other, Time until) { ensemble().partition(server, other, until); }
};

}  // namespace zklock::sim
