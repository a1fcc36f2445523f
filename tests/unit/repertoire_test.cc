// SPDX-License-Identifier: Apache-2.0
#include "zk/repertoire.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace {

class RepertoireTest : public testing::Test {
 protected:
  void SetUp() override { forget_novelties(); }
  void TearDown() override { forget_novelties(); }
};

using Repertoire = RepertoireTest;

TEST_F(Repertoire, RefusalIsBelievedAtOnce) {
  note_fate(Novelty::container, Fate::refused);
  EXPECT_FALSE(is_known(Novelty::container));
  EXPECT_TRUE(is_known(Novelty::create_with_stat));
}

TEST_F(Repertoire, OneLossIsEnoughToDoWithoutStat) {
  note_fate(Novelty::create_with_stat, Fate::lost);
  EXPECT_FALSE(is_known(Novelty::create_with_stat));
}

TEST_F(Repertoire, ContainersAreGivenUpAfterTwoLossesInRow) {
  note_fate(Novelty::container, Fate::lost);
  note_fate(Novelty::container, Fate::answered);
  note_fate(Novelty::container, Fate::lost);
  EXPECT_TRUE(is_known(Novelty::container));
  note_fate(Novelty::container, Fate::lost);
  EXPECT_FALSE(is_known(Novelty::container));
}

}  // namespace
}  // namespace zklock::zk
