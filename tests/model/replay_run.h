// SPDX-License-Identifier: Apache-2.0
// NAME_model --replay FILE...: checks the histories in these files against the model.
//
//     --replay FILE...      ends with 0 if the model allows them, prints which steps of the model none of them took
//     --refuse FILE...      bad ones: ends with 0 if it allows none
//
// Besides what replay.h asks for, a story has
//   static std::vector<Story> stories_of(const std::vector<Account>&, const Model&)
//   std::string name() const
//   bool widen()                   from now on what happens seldom may happen too; false: there is nothing more
#pragma once

#include "replay.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

namespace zklock::model {

struct ReplayWish {
  std::vector<std::string> files = {};
  bool refuse = false;
  bool empty() const { return files.empty(); }
};

ReplayWish files_to_replay(int argc, char** argv);

struct Tally {
  size_t stories = 0, refused = 0, given_up = 0, states = 0;
  std::set<std::string> taken = {};
};

template <class Story, class Model>
Tally replay_files(const std::vector<std::string>& files, const Model& model, bool tell) {
  Tally tally;
  for (Story& story : Story::stories_of(read_history(files), model)) {
    Verdict verdict = Replay<Story>(story).run();
    if (!verdict.allowed && story.widen()) verdict = Replay<Story>(story).run();
    ++tally.stories;
    tally.states += verdict.states;
    tally.taken.insert(verdict.taken.begin(), verdict.taken.end());
    tally.given_up += verdict.given_up ? 1 : 0;
    if (verdict.allowed) continue;
    ++tally.refused;
    if (!tell) continue;
    std::printf("%s: the model does not allow it:\n", story.name().c_str());
    for (const std::string& line : verdict.why) std::printf("%s\n", line.c_str());
  }
  return tally;
}

// Checks each of the files alone.
template <class Story, class Model>
int refuse_each(const char* name, const std::vector<std::string>& files, const Model& model) {
  bool all = true;
  for (const std::string& file : files) {
    const Tally tally = replay_files<Story>({file}, model, false);
    std::printf("%s: %s: %s\n", name, file.c_str(), tally.refused > 0 ? "refused" : "NOT REFUSED");
    all &= tally.refused > 0;
  }
  return all ? 0 : 1;
}

template <class Story, class Model>
int replay_all(const char* name, const ReplayWish& wish, const Model& model) {
  try {
    if (wish.refuse) return refuse_each<Story>(name, wish.files, model);
    const auto start = std::chrono::steady_clock::now();
    const Tally tally = replay_files<Story>(wish.files, model, true);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%s: %zu histories, %zu not allowed, %zu given up; %zu states (%.2f s)\n", name, tally.stories,
                tally.refused, tally.given_up, tally.states, took.count());
    for (const std::string& step : steps_of(model)) {
      if (!tally.taken.contains(step)) std::printf("  never: %s\n", step.c_str());
    }
    return tally.refused == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s_model: %s\n", name, error.what());
    return 70;
  }
}

}  // namespace zklock::model
