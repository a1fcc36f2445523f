// SPDX-License-Identifier: Apache-2.0
// bare SUBCOMMAND WORD…: scripts/bench measures zklock against it. A subcommand makes the requests that zklock makes
// for the same work, by the C client alone.
#include "bare.h"

#include <cstdio>

namespace {

constexpr int kUsageError = 64;

struct Subcommand {
  const char* name;
  const char* operands;
  bool (*run)(const bare::Words&);
};

constexpr Subcommand kSubcommands[] = {
    {"lock", "PATH", bare::lock},          {"push", "PATH <FILE", bare::push},
    {"drain", "PATH [JOBS]", bare::drain}, {"value", "VERB PATH [DATA]", bare::value},
    {"crowd", "GROUP", bare::crowd},
};

bool run(const bare::Words& words) {
  for (const Subcommand& one : kSubcommands) {
    if (!words.empty() && words.front() == one.name) return one.run({words.begin() + 1, words.end()});
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (run({argv + 1, argv + argc})) return 0;
  const char* before = "usage: bare ";
  for (const Subcommand& one : kSubcommands) {
    std::fprintf(stderr, "%s%s %s", before, one.name, one.operands);
    before = " | ";
  }
  std::fputc('\n', stderr);
  return kUsageError;
}
