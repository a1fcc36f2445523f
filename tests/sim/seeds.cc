// SPDX-License-Identifier: Apache-2.0
#include "seeds.h"

#include "faults.h"

#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Writes the counters of a build with coverage; not in other builds.
extern "C" __attribute__((weak)) void __gcov_dump(void);

namespace zklock::sim {

namespace {

constexpr rlim_t kMostCpu = 20;  // seconds

// Of fixed size, as it goes through a pipe.
struct Report {
  Figures figures;
  uint64_t hash;
  char violation[400];
};

[[noreturn]] void run_in_child(const NamedWorkload& workload, uint64_t seed, const Options& options, int to) {
  const rlimit limit{kMostCpu, kMostCpu};
  setrlimit(RLIMIT_CPU, &limit);
  auto* const simulation = new Simulation(seed, options, workload.make);  // never taken apart: processes point into it
  Report report{};
  report.figures = simulation->run();
  report.hash = world->hash();
  std::snprintf(report.violation, sizeof report.violation, "%s", world->first_violation().c_str());
  world = nullptr;
  const bool written = write(to, &report, sizeof report) == sizeof report;
  if (__gcov_dump) __gcov_dump();
  _exit(written ? 0 : 1);
}

}  // namespace

Result run_seed(const NamedWorkload& workload, uint64_t seed, const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return {{}, 0, "no pipe"};
  const pid_t child = fork();
  if (child == 0) run_in_child(workload, seed, options, ends[1]);
  close(ends[1]);
  Report report{};
  const bool whole = read(ends[0], &report, sizeof report) == sizeof report;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (whole && status == 0) return {report.figures, report.hash, report.violation};
  return {report.figures, report.hash, fmt::format("the simulation has ended with wait status {}", status), false};
}

std::vector<std::string> needed_faults(const NamedWorkload& workload, uint64_t seed, Options options) {
  std::vector<std::string> needed;
  options.prints = options.traces = false;
  const auto kinds = Faults::kinds();
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    Options fewer = options;
    fewer.without |= 1U << kind;
    if (run_seed(workload, seed, fewer).violation.empty()) {
      needed.emplace_back(kinds[kind].name);
    } else {
      options = fewer;
    }
  }
  return needed;
}

}  // namespace zklock::sim
