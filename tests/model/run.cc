// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <cstdio>

namespace zklock::model {

namespace {

struct Wish {
  Size size = Size::full;
  bool mutants = false;
  std::string mutant;
  bool understood = true;
};

Wish wish_of(const std::vector<std::string>& arguments) {
  Wish wish;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--quick") {
      wish.size = Size::quick;
    } else if (arguments[i] == "--mutants") {
      wish.mutants = true;
    } else if (arguments[i] == "--mutant" && i + 1 < arguments.size()) {
      wish.mutant = arguments[++i];
    } else {
      wish.understood = false;
    }
  }
  return wish;
}

void print_trace(const Finding& finding) {
  for (const std::string& step : finding.trace) std::printf("    %s\n", step.c_str());
  std::printf("  then: %s\n", finding.fault.c_str());
}

Finding check_and_tell(const Run& run, Size size, int mutant) {
  const auto start = std::chrono::steady_clock::now();
  Finding finding = run.check(size, mutant);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::string name = mutant == 0 ? "" : " with '" + run.mutants[static_cast<size_t>(mutant - 1)] + "'";
  const std::string result = finding.fault.empty() ? "sound" : finding.fault;
  std::printf("%s%s: %zu states, %s (%.2f s)\n", run.model.c_str(), name.c_str(), finding.states, result.c_str(),
              took.count());
  return finding;
}

bool is_sound(const Run& run, Size size) {
  const Finding finding = check_and_tell(run, size, 0);
  if (!finding.fault.empty()) print_trace(finding);
  return finding.fault.empty();
}

bool finds_all(const Run& run) {
  bool all = true;
  for (size_t i = 0; i < run.mutants.size(); ++i) {
    const bool found = !check_and_tell(run, Size::quick, static_cast<int>(i + 1)).fault.empty();
    if (!found) std::printf("  NOT FOUND: the model is too small to see that mistake, or it is none\n");
    all &= found;
  }
  return all;
}

int show(const Run& run, const std::string& mutant) {
  const auto at = std::find(run.mutants.begin(), run.mutants.end(), mutant);
  if (at == run.mutants.end()) {
    std::fprintf(stderr, "%s: no such mistake: '%s'; there are:\n", run.model.c_str(), mutant.c_str());
    for (const std::string& name : run.mutants) std::fprintf(stderr, "  %s\n", name.c_str());
    return 64;
  }
  const Finding finding = check_and_tell(run, Size::quick, static_cast<int>(at - run.mutants.begin()) + 1);
  if (!finding.fault.empty()) print_trace(finding);
  return finding.fault.empty() ? 1 : 0;
}

}  // namespace

std::string describe(const Step& step) {
  const std::string actor =
      step.actor == kNobody ? "  " : std::string(1, static_cast<char>('A' + static_cast<int>(step.actor))) + ":";
  return actor + " " + step.what + (step.kind == Kind::chance ? "  (chance)" : "");
}

int run(const Run& run, const std::vector<std::string>& arguments) {
  const Wish wish = wish_of(arguments);
  if (!wish.understood) {
    std::fprintf(stderr, "usage: %s_model [--quick] [--mutants | --mutant NAME]\n", run.model.c_str());
    return 64;
  }
  if (!wish.mutant.empty()) return show(run, wish.mutant);
  bool fine = is_sound(run, wish.size);
  if (wish.mutants) fine &= finds_all(run);
  return fine ? 0 : 1;
}

}  // namespace zklock::model
