// SPDX-License-Identifier: Apache-2.0
// Time as zklock uses it: one clock that counts suspended time too (CLOCK_BOOTTIME), absolute points on it, and the
// durations that people type. The wall clock is never used to wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

using Duration = std::chrono::nanoseconds;

struct BootClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock, Duration>;
  static constexpr bool is_steady = true;
  static time_point now();
};

// An absolute point: made once from a --timeout and handed down, so that no step gets the whole time again.
using Deadline = BootClock::time_point;

inline constexpr Deadline kNever = Deadline::max();

// The deadline `span` from now; a span too long to count is kNever.
Deadline deadline_in(Duration span);

// What is left until `deadline`, never negative.
Duration left_until(Deadline deadline);

// "500ms", "0.5", "30", "30s", "5m", "1h30m", "1d": numbers with a unit (none: seconds), one after the other. Nothing
// if `text` is anything else, negative, longer than a hundred years, or too short to be told from 0.
std::optional<Duration> parse_duration(std::string_view text);

// From one moment to another, both in ms since 1970 as somebody else tells them; what cannot be counted is the longest
// that can be, or its negative.
Duration span_between(int64_t from_ms, int64_t to_ms);

// How long ago such a moment was by our own wall clock, never negative: good enough to read.
Duration age_of(int64_t moment_ms);

// For people: "420ms", "9.3s", "3m", "2h 5m", "4d 3h".
std::string format_duration(Duration span);

// "2026-11-20T08:30:00Z": RFC 3339, in UTC, of a moment on the wall clock in ms since 1970. The form has the years 0 to
// 9999; a moment beyond them is the first one, or the last.
std::string format_utc(int64_t milliseconds);

}  // namespace zklock
