// SPDX-License-Identifier: Apache-2.0
// How many items queue pull claims ahead of its commands: command/queue/workers.h, Prefetch. Needs no server.
#include "command/queue/workers.h"

#include <gtest/gtest.h>

namespace zklock::command {
namespace prefetch_test {

using namespace std::chrono_literals;

// Returns one that knows that commands take `age`.
Prefetch prefetch_for(size_t jobs, Duration age, Duration round_trip = {}) {
  Prefetch prefetch(jobs);
  for (int i = 0; i < 200; ++i) prefetch.learn(age);
  prefetch.note_round_trip(round_trip);
  return prefetch;
}

TEST(PrefetchTest, NothingIsClaimedAheadOfLongCommands) {
  const Prefetch prefetch = prefetch_for(2, 1s);
  EXPECT_EQ(prefetch.lacking(2, 0, true), 2u);
  EXPECT_EQ(prefetch.lacking(1, 1, true), 0u);
  EXPECT_EQ(prefetch.lacking(0, 0, true), 0u);
}

TEST(PrefetchTest, SoMuchWorkIsClaimedAheadAsIsDoneIn50msAndARoundTrip) {
  EXPECT_EQ(prefetch_for(1, 10ms).lacking(1, 0, true), 6u);
  EXPECT_EQ(prefetch_for(1, 10ms, 100ms).lacking(1, 0, true), 16u);
}

TEST(PrefetchTest, HoweverShortTheCommandsNoMoreThanABoundIsClaimedAhead) {
  EXPECT_EQ(prefetch_for(1, 1us, 100ms).lacking(0, 0, true), 32u);
  EXPECT_EQ(prefetch_for(100, 1us, 100ms).lacking(0, 0, true), 200u);
}

TEST(PrefetchTest, WhatIsOnItsWayIsNotClaimedAgain) {
  const Prefetch prefetch = prefetch_for(4, 10ms);  // 20 ahead
  EXPECT_EQ(prefetch.lacking(0, 10, true), 10u);
  EXPECT_EQ(prefetch.lacking(0, 11, true), 0u);
  EXPECT_EQ(prefetch.lacking(4, 0, true), 24u);
  EXPECT_EQ(prefetch.lacking(4, 12, true), 12u);
}

TEST(PrefetchTest, ABurstOfShortCommandsDoesNotMakeARequestForEach) {
  const Prefetch prefetch = prefetch_for(16, 1s);
  EXPECT_EQ(prefetch.lacking(1, 0, true), 1u);
  EXPECT_EQ(prefetch.lacking(5, 3, true), 0u);
  EXPECT_EQ(prefetch.lacking(6, 3, true), 3u);
}

TEST(PrefetchTest, WhenThereWasNothingItClaimsOnlyForAWorkerWithoutAnItem) {
  const Prefetch prefetch = prefetch_for(4, 10ms);
  EXPECT_EQ(prefetch.lacking(0, 0, false), 0u);
  EXPECT_GT(prefetch.lacking(1, 0, false), 0u);
}

}  // namespace prefetch_test
}  // namespace zklock::command
