// SPDX-License-Identifier: Apache-2.0
// The workloads. Each starts zklocks over and over again until storms are over, and checks what they promise.
#pragma once

#include "simulation.h"

#include <memory>
#include <span>

namespace zklock::sim {

class Workload {
 public:
  explicit Workload(Simulation& simulation) : simulation_(simulation) {}
  Workload(const Workload&) = delete;
  virtual ~Workload() = default;

  virtual void begin() = 0;
  // All its zklocks have ended, and it starts no more.
  virtual bool is_done() const = 0;

  virtual void on_begin(const Command& /*command*/) {}
  virtual void on_completed(const Command& /*command*/) {}
  virtual void on_commit(const Txn& /*txn*/) {}
  virtual void each_second() {}
  // After it is done, and all sessions that were left have expired.
  virtual void check_end() {}

 protected:
  Simulation& simulation_;
};

struct NamedWorkload {
  const char* name;
  std::unique_ptr<Workload> (*make)(Simulation&);
};
std::span<const NamedWorkload> all_workloads();

std::unique_ptr<Workload> make_lock(Simulation& simulation);
std::unique_ptr<Workload> make_jobs(Simulation& simulation);
std::unique_ptr<Workload> make_queue(Simulation& simulation);
std::unique_ptr<Workload> make_group(Simulation& simulation);
std::unique_ptr<Workload> make_upkeep(Simulation& simulation);
std::unique_ptr<Workload> make_value(Simulation& simulation);
std::unique_ptr<Workload> make_await(Simulation& simulation);
std::unique_ptr<Workload> make_looks(Simulation& simulation);

}  // namespace zklock::sim
