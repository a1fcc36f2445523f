// SPDX-License-Identifier: Apache-2.0
// Simulated zklocks on simulated servers, with faults: README.md says how to use it.
#include "faults.h"
#include "seeds.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zklock::sim {

namespace {

constexpr NamedWorkload kWorkloads[] = {{"lock", make_lock},     {"jobs", make_jobs},   {"queue", make_queue},
                                        {"upkeep", make_upkeep}, {"await", make_await}, {"value", make_value},
                                        {"group", make_group},   {"looks", make_looks}};

constexpr int kMostReduced = 3;  // findings of which the needed faults are looked for, which takes some runs each

struct Arguments {
  std::vector<std::string> workloads;
  uint64_t seeds = 100;
  uint64_t first = 1;
  int64_t seed = -1;
  double cpu = 0;      // seconds for each workload; 0: no bound
  double minutes = 0;  // in all; 0: no bound
  bool twice = false;
  bool stop = false;
  Options options;
};

class Runner {
 public:
  explicit Runner(const Arguments& arguments) : arguments_(arguments) {}

  bool run(const NamedWorkload& workload) {
    Figures sum;
    uint64_t seed = arguments_.first;
    uint64_t bad = 0;
    for (; seed < arguments_.first + arguments_.seeds && !time_is_over(sum); ++seed) {
      const Result result = run_seed(workload, seed, arguments_.options);
      sum.add(result.figures);
      if (!result.violation.empty()) report(workload, seed, result), ++bad;
      if (bad > 0 && arguments_.stop) break;
      if (arguments_.twice && run_seed(workload, seed, arguments_.options).hash != result.hash) {
        fmt::print("{} {}: another hash at the second time\n", workload.name, seed);
        ++bad;
      }
      if (arguments_.seed >= 0) fmt::print("hash {:016x}\n", result.hash);
    }
    tell(workload, seed - arguments_.first, bad, sum);
    return bad == 0;
  }

 private:
  bool time_is_over(const Figures& sum) const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
    return (arguments_.cpu > 0 && sum.cpu >= arguments_.cpu) ||
           (arguments_.minutes > 0 && taken.count() >= 60 * arguments_.minutes);
  }

  void report(const NamedWorkload& workload, uint64_t seed, const Result& result) {
    fmt::print("{} {}: {}\n", workload.name, seed, result.violation);
    std::fflush(stdout);  // each seed is a process of its own
    if (result.ended && arguments_.options.faults && ++reported_ <= kMostReduced) {
      fmt::print("  it needs: {}\n", fmt::join(needed_faults(workload, seed, arguments_.options), ", "));
    }
    fmt::print("  its story: scripts/test sim {} --seed {} --trace\n", workload.name, seed);
    std::fflush(stdout);
  }

  static void tell(const NamedWorkload& workload, uint64_t seeds, uint64_t bad, const Figures& sum) {
    fmt::print(
        "sim {}: {} seeds, {} bad; {:.0f} simulated s in {:.1f} CPU s; {} requests, {} transactions, {} faults, "
        "{} elections, {} expiries; {} commands, {} killed at the fence; {} zklocks ended with 76, {} with 69, "
        "{} killed\n",
        workload.name, seeds, bad, sum.simulated, sum.cpu, sum.requests, sum.transactions, sum.faults, sum.elections,
        sum.expiries, sum.commands, sum.killed_at_fence, sum.lost, sum.unreachable, sum.killed);
    std::fflush(stdout);
  }

  const Arguments& arguments_;
  int reported_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("workload", arguments.workloads, "Those to run (all)");
  app.add_option("--seeds", arguments.seeds, "How many seeds of each");
  app.add_option("--first", arguments.first, "The first of them");
  app.add_option("--seed", arguments.seed, "This seed alone");
  app.add_option("--cpu", arguments.cpu, "End each workload after so many CPU seconds");
  app.add_option("--minutes", arguments.minutes, "End after so many minutes");
  app.add_option_function<int64_t>(
      "--storms", [&](int64_t span) { arguments.options.storms = span * second; },
      "For how many simulated seconds there are storms (300)");
  app.add_flag("--twice", arguments.twice, "Run each seed twice: the log has to be the same");
  app.add_flag("--stop", arguments.stop, "End a workload at its first violation");
  app.add_flag("--print", arguments.options.prints, "Print the log");
  app.add_flag("--trace", arguments.options.traces, "Print the log, with all requests and answers");
  app.add_flag("!--no-faults", arguments.options.faults, "Nothing fails");
}

}  // namespace

std::span<const NamedWorkload> all_workloads() {
  return kWorkloads;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Simulates zklocks and ZooKeeper servers in virtual time, from seeds", "sim");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  arguments.options.prints |= arguments.options.traces;
  if (arguments.seed >= 0) {
    arguments.first = static_cast<uint64_t>(arguments.seed);
    arguments.seeds = 1;
  }
  bool good = true;
  for (const NamedWorkload& workload : all_workloads()) {
    const auto& wanted = arguments.workloads;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), workload.name) == wanted.end()) continue;
    good = Runner(arguments).run(workload) && good;
  }
  return good ? 0 : 1;
}

}  // namespace zklock::sim

int main(int argc, char** argv) {
  return zklock::sim::run(argc, argv);
}
