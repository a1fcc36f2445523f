// SPDX-License-Identifier: Apache-2.0
#include "zk/repertoire.h"

#include <array>
#include <cstddef>

namespace zklock::zk {

namespace {

struct Experience {
  int losses = 0;  // in a row
  bool refused = false;
};

std::array<Experience, 2> experiences;

Experience& experience_of(Novelty novelty) {
  return experiences[static_cast<size_t>(novelty)];
}

// A Stat that is asked for by itself costs only that, a node that stays for ever is worse.
int most_losses(Novelty novelty) {
  return novelty == Novelty::container ? 2 : 1;
}

}  // namespace

bool is_known(Novelty novelty) {
  const Experience& experience = experience_of(novelty);
  return !experience.refused && experience.losses < most_losses(novelty);
}

void note_fate(Novelty novelty, Fate fate) {
  Experience& experience = experience_of(novelty);
  switch (fate) {
    case Fate::answered:
      experience.losses = 0;
      break;
    case Fate::refused:
      experience.refused = true;
      break;
    case Fate::lost:
      ++experience.losses;
      break;
  }
}

void forget_novelties() {
  experiences = {};
}

}  // namespace zklock::zk
