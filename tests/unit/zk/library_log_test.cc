// SPDX-License-Identifier: Apache-2.0
// zk/library_log: which of many lines are shown.
#include "zk/library_log.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace library_log_test {

using namespace std::chrono_literals;

std::string refused_by(const std::string& server, int pid = 1) {
  return "2026-11-22 14:29:36,316:" + std::to_string(pid) + ":ZOO_ERROR@check_events@2985: Socket " + server +
         " zk retcode=-4, errno=111(Connection refused): server refused to accept the client";
}

// Returns how many of the same line, written every 100 ms, are shown in that time.
int64_t shown_in(LogThinner& thinner, Deadline begin, Duration span) {
  int64_t shown = 0;
  for (Duration at{}; at < span; at += 100ms) shown += thinner.show(refused_by("a:1"), begin + at) ? 1 : 0;
  return shown;
}

TEST(LogThinner, ShowsALineAgainAfterLongerAndLongerPauses) {
  LogThinner thinner;
  const Deadline begin{1h};
  std::vector<int64_t> seconds;
  for (int64_t second = 0; second < 130; ++second) {
    if (thinner.show(refused_by("a:1"), begin + std::chrono::seconds(second))) seconds.push_back(second);
  }
  EXPECT_EQ(seconds, (std::vector<int64_t>{0, 1, 3, 7, 15, 31, 61, 91, 121}));
}

TEST(LogThinner, TellsHowManyWereLeftOut) {
  LogThinner thinner;
  const Deadline begin{1h};
  EXPECT_EQ(shown_in(thinner, begin, 1s), 1);
  EXPECT_EQ(thinner.show(refused_by("a:1"), begin + 1s), 9);
  EXPECT_EQ(thinner.show(refused_by("a:1"), begin + 3s), 0);
}

TEST(LogThinner, ShowsOtherLinesAtOnce) {
  LogThinner thinner;
  const Deadline now{1h};
  EXPECT_EQ(thinner.show(refused_by("a:1"), now), 0);
  EXPECT_EQ(thinner.show(refused_by("b:1"), now), 0);
  EXPECT_EQ(thinner.show("something else", now), 0);
  EXPECT_EQ(thinner.show(refused_by("a:1", 2), now), std::nullopt);
}

TEST(LogThinner, KnowsALineWhateverTheOrderOfTheServersInIt) {
  LogThinner thinner;
  const Deadline now{1h};
  EXPECT_EQ(thinner.show("ZOO_WARN@x@1: Delaying after trying all servers [a:1,b:1]", now), 0);
  EXPECT_EQ(thinner.show("ZOO_WARN@x@1: Delaying after trying all servers [b:1,a:1]", now), std::nullopt);
}

TEST(LogThinner, ANewOutageBeginsAnew) {
  LogThinner thinner;
  EXPECT_EQ(shown_in(thinner, Deadline(1h), 40s), 6);
  EXPECT_EQ(shown_in(thinner, Deadline(2h), 40s), 6);
}

TEST(LogThinner, DoesNotGrow) {
  LogThinner thinner;
  const Deadline now{1h};
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(thinner.show(std::to_string(i), now), 0);
}

}  // namespace library_log_test
}  // namespace zklock::zk
