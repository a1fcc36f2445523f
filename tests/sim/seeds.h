// SPDX-License-Identifier: Apache-2.0
// Runs seeds, each in a process of its own: what it leaves behind in static variables is gone with it, and one that
// crashes or spins is a finding like any other.
#pragma once

#include "simulation.h"
#include "workloads.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::sim {

struct Result {
  Figures figures;
  uint64_t hash = 0;
  std::string violation;  // "": none
  bool ended = true;      // by itself
};

Result run_seed(const NamedWorkload& workload, uint64_t seed, const Options& options);

// The names of the kinds of faults without which this seed finds nothing any more, as far as leaving them out one after
// the other can tell.
std::vector<std::string> needed_faults(const NamedWorkload& workload, uint64_t seed, Options options);

}  // namespace zklock::sim
