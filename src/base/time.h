// SPDX-License-Identifier: Apache-2.0
// Time in zklock: one clock, which goes on while the host is suspended (CLOCK_BOOTTIME), moments on it, and durations
// as people type them. zklock never uses the wall clock to wait.
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

// An absolute moment. It is computed once from a --timeout and handed down, so that no step gets the whole time again.
using Deadline = BootClock::time_point;

inline constexpr Deadline kNever = Deadline::max();

// Returns the deadline `span` from now; kNever if `span` is too long.
Deadline deadline_in(Duration span);

// Returns the time that is left until `deadline`, never less than zero; Duration::max() for kNever.
Duration left_until(Deadline deadline);

// Parses numbers with units, one after the other: "500ms", "0.5", "30", "30s", "5m", "1h30m", "1d". The last unit may
// be missing (seconds). Returns no value for any other text, and if the duration is longer than a hundred years or too
// short to differ from 0.
std::optional<Duration> parse_duration(std::string_view text);

// Returns the time from one moment to another, both in ms since 1970 by another host's clock. If that does not fit, it
// returns the longest duration that fits, or its negative.
Duration span_between(int64_t from_ms, int64_t to_ms);

// Returns how long ago `moment_ms` (ms since 1970) was by our own wall clock, never less than zero. It is only for
// display.
Duration age_of(int64_t moment_ms);

// Return this moment by our own wall clock in whole seconds: as ms since 1970, or as text like that of format_utc().
int64_t now_ms();
std::string utc_now();

double seconds_of(Duration span);
double milliseconds_of(Duration span);

// Returns `span` in a form for people: "420ms", "9.3s", "3m", "2h 5m", "4d 3h".
std::string format_duration(Duration span);

// Returns a moment of the wall clock, in ms since 1970, as in RFC 3339, in UTC: "2026-11-20T08:30:00Z". The format
// covers the years 0 to 9999; an earlier or later moment is shown as the first or the last one.
std::string format_utc(int64_t milliseconds);

}  // namespace zklock
