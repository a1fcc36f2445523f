// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include <fmt/format.h>

namespace zklock {

using namespace std::chrono_literals;

namespace {

constexpr double kLongestSeconds = 100.0 * 365 * 86400;

constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
    {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};

// Cuts the unit off the beginning of `text` and returns its seconds. The last unit may be missing.
std::optional<double> take_unit(std::string_view& text) {
  if (text.empty()) return 1;
  for (const auto& [name, seconds] : kUnits) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return seconds;
  }
  return std::nullopt;
}

}  // namespace

BootClock::time_point BootClock::now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

Deadline deadline_in(Duration span) {
  const Deadline now = BootClock::now();
  return span >= kNever - now ? kNever : now + span;
}

Duration left_until(Deadline deadline) {
  if (deadline == kNever) return Duration::max();
  return std::max(Duration::zero(), deadline - BootClock::now());
}

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    const size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::optional<double> number = parse_decimal(text.substr(0, length));
    if (!number) return std::nullopt;
    text.remove_prefix(length);
    const std::optional<double> unit = take_unit(text);
    if (!unit) return std::nullopt;
    seconds += *number * *unit;
  }
  if (seconds > kLongestSeconds) return std::nullopt;
  const Duration span(static_cast<Duration::rep>(seconds * 1e9 + 0.5));
  return span == Duration::zero() && seconds > 0 ? std::nullopt : std::optional(span);
}

Duration span_between(int64_t from_ms, int64_t to_ms) {
  using std::chrono::milliseconds;
  constexpr int64_t kLongest = std::chrono::floor<milliseconds>(Duration::max()).count();
  int64_t span = 0;
  if (__builtin_sub_overflow(to_ms, from_ms, &span)) span = to_ms < from_ms ? -kLongest : kLongest;
  return milliseconds(std::clamp(span, -kLongest, kLongest));
}

Duration age_of(int64_t moment_ms) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return std::max(Duration::zero(), span_between(moment_ms, now.time_since_epoch().count()));
}

int64_t now_ms() {
  return static_cast<int64_t>(std::time(nullptr)) * 1000;
}

std::string utc_now() {
  return format_utc(now_ms());
}

double seconds_of(Duration span) {
  return std::chrono::duration<double>(span).count();
}

double milliseconds_of(Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

std::string format_duration(Duration span) {
  const auto count = [&](auto unit) { return span / unit; };
  if (span < 1s) return fmt::format("{}ms", count(1ms));
  if (span < 9950ms) return fmt::format("{:.1f}s", seconds_of(span));
  if (span < 60s) return fmt::format("{}s", count(1s));
  if (span < 60min) return fmt::format("{}m", count(1min));
  if (span < 24h) return fmt::format("{}h {}m", count(1h), count(1min) % 60);
  return fmt::format("{}d {}h", count(24h), count(1h) % 24);
}

std::string format_utc(int64_t milliseconds) {
  // This does not use gmtime, which reads /etc/localtime.
  constexpr int64_t kFirstSecond = -62'167'219'200;
  constexpr int64_t kLastSecond = 253'402'300'799;
  const std::chrono::seconds within(std::clamp(milliseconds / 1000, kFirstSecond, kLastSecond));
  const std::chrono::sys_seconds moment(within);
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(moment - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

}  // namespace zklock
