// SPDX-License-Identifier: Apache-2.0
// base/time: durations as people type and read them, deadlines that cannot overflow.
#include "base/time.h"

#include <cstdint>
#include <ctime>
#include <limits>

#include <gtest/gtest.h>

namespace zklock {
namespace time_test {

using namespace std::chrono_literals;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

TEST(Time, ParsesEveryFormOfADuration) {
  const std::pair<const char*, Duration> cases[] = {
      {"500ms", 500ms}, {"0.5", 500ms}, {"30", 30s}, {"30s", 30s},         {"5m", 5min},
      {"1h30m", 90min}, {"1d", 24h},    {"0", 0s},   {"0s", 0s},           {"1d2h3m4s5ms", 26h + 184005ms},
      {"1.5h", 90min},  {".5s", 500ms}, {"2.", 2s},  {"1m500ms", 60500ms}, {"36500d", 36500 * 24h},
      {"90m", 90min},   {"0.001", 1ms}, {"007", 7s},
  };
  for (const auto& [text, span] : cases) EXPECT_EQ(parse_duration(text), span) << text;
}

TEST(Time, RefusesWhatIsNoDuration) {
  for (const char* text :
       {"",   "5x",    "-1",  "1e9", "s",   "5 s", "1..2", "ms",  "+5",  " 5",  "5 ",     "5sec",        "5S",
        "h1", "1h-5m", "inf", "nan", "0x5", "1,5", ".",    "5s.", "5ss", "1hm", "36501d", "99999999999", "5m\n"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_duration(std::string(500, '9')), std::nullopt);
  EXPECT_EQ(parse_duration(std::string("5\0", 2)), std::nullopt);
}

TEST(Time, RefusesADurationThatWouldBecomeZero) {
  EXPECT_EQ(parse_duration("0.000000001"), 1ns);
  EXPECT_EQ(parse_duration("0.0000001ms"), std::nullopt);
  EXPECT_EQ(parse_duration("0.0000000000ms"), 0s);
}

TEST(Time, FormatsForPeople) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0ms"},   {420ms, "420ms"},  {999ms, "999ms"}, {1s, "1.0s"},           {9300ms, "9.3s"},
      {10s, "10s"},  {59999ms, "59s"},  {60s, "1m"},      {3min, "3m"},           {59min + 59s, "59m"},
      {1h, "1h 0m"}, {125min, "2h 5m"}, {24h, "1d 0h"},   {99h + 10min, "4d 3h"}, {36500 * 24h, "36500d 0h"},
  };
  for (const auto& [span, text] : cases) EXPECT_EQ(format_duration(span), text);
}

TEST(Time, DeadlineIsNowPlusTheSpan) {
  const Deadline before = BootClock::now();
  const Deadline made = deadline_in(5s);
  EXPECT_GE(made, before + 5s);
  EXPECT_LE(made, BootClock::now() + 5s);
}

TEST(Time, DeadlineTooFarAwayToCountIsNever) {
  EXPECT_EQ(deadline_in(Duration::max()), kNever);
  EXPECT_EQ(deadline_in(Duration::max() - 1ns), kNever);
  EXPECT_LT(deadline_in(100 * 365 * 24h), kNever);
}

TEST(Time, NothingIsLeftOfAPastDeadline) {
  EXPECT_EQ(left_until(BootClock::now() - 1h), 0s);
  EXPECT_EQ(left_until(BootClock::time_point{}), 0s);
  EXPECT_EQ(left_until(deadline_in(-5s)), 0s);
  EXPECT_EQ(left_until(deadline_in(0s)), 0s);
}

TEST(Time, LeftUntilCountsDown) {
  const Deadline until = deadline_in(1h);
  const Duration first = left_until(until);
  EXPECT_LE(first, 1h);
  EXPECT_GT(first, 59min);
  EXPECT_LE(left_until(until), first);
  EXPECT_EQ(left_until(kNever), Duration::max());
}

TEST(Time, OfTheWallClockIsShownInUtc) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(1'795'206'600'999), "2026-11-20T20:30:00Z");
}

TEST(Time, MomentsThatAreNoTimesAreShownAsTheFirstOrTheLast) {
  EXPECT_EQ(format_utc(kLargest), "9999-12-31T23:59:59Z");
  EXPECT_EQ(format_utc(kSmallest), "0000-01-01T00:00:00Z");
}

TEST(Time, SpanBetweenMomentsOfOthersIsCountedOrTheLongest) {
  EXPECT_EQ(span_between(1000, 4000), 3s);
  EXPECT_EQ(span_between(4000, 1000), -3s);
  const Duration longest = span_between(kSmallest, kLargest);
  EXPECT_GT(longest, 290 * 365 * 24h);
  EXPECT_EQ(span_between(0, kLargest), longest);
  EXPECT_EQ(span_between(kLargest, kSmallest), -longest);
  EXPECT_EQ(span_between(kLargest, 0), -longest);
}

TEST(Time, WhatIsStillToComeHasNoAge) {
  EXPECT_EQ(age_of(kLargest), 0s);
  EXPECT_EQ(age_of(kSmallest), span_between(kSmallest, kLargest));
  EXPECT_GT(age_of(0), 50 * 365 * 24h);
}

// No wait may depend on the wall clock.
TEST(Time, ClockIsTheOneSinceBoot) {
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  const auto expected = std::chrono::seconds(boot.tv_sec);
  EXPECT_LT(std::chrono::abs(BootClock::now().time_since_epoch() - expected), 2s);
}

}  // namespace time_test
}  // namespace zklock
