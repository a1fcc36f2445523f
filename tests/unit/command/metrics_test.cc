// SPDX-License-Identifier: Apache-2.0
// command/cli/metrics: labels of any text, numbers, families without samples. promtool checks the rest, in Bats.
#include "command/cli/metrics.h"

#include <gtest/gtest.h>

namespace zklock::command {
namespace metrics_test {

TEST(Metrics, ALabelIsOneLineOfTextWhateverWasRead) {
  EXPECT_EQ(label_of("lock", "/a b"), R"(lock="/a b")");
  EXPECT_EQ(label_of("lock", R"(/"q"\)"), R"(lock="/\"q\"\\")");
  EXPECT_EQ(label_of("lock", "/ü\n\x1b\xff"), R"(lock="/ü\\x0a\\x1b\\xff")");
  EXPECT_EQ(label_of("lock", ""), R"(lock="")");
}

TEST(Metrics, NumbersAreWhole) {
  EXPECT_EQ(sample_of("x", "", 0), "x 0\n");
  EXPECT_EQ(sample_of("x", "a=\"b\"", 12345678), "x{a=\"b\"} 12345678\n");
  EXPECT_EQ(sample_of("x", "", *timestamp_of(1795434951142)), "x 1795434951.142\n");
  EXPECT_EQ(timestamp_of(0), std::nullopt);
}

TEST(Metrics, AFamilyHasAHeadOnlyWithSamples) {
  constexpr MetricFamily<int> kOdd = {
      "odd", "gauge", "Odd ones.", [](const int& n) { return n % 2 == 1 ? std::optional<double>(n) : std::nullopt; }};
  const int all[] = {1, 2, 3};
  const int even[] = {2};
  EXPECT_EQ(exposed(kOdd, std::span<const int>(all)), "# HELP odd Odd ones.\n# TYPE odd gauge\nodd 1\nodd 3\n");
  EXPECT_EQ(exposed(kOdd, std::span<const int>(even)), "");
}

}  // namespace metrics_test
}  // namespace zklock::command
