// SPDX-License-Identifier: Apache-2.0
// zklock show --format prometheus.
#include "command/cli/metrics.h"
#include "command/lock/locks.h"

#include <algorithm>

namespace zklock::command {

namespace {

using recipe::Participant;
using recipe::Survey;

double count(const Survey& survey, bool holding) {
  return static_cast<double>(std::ranges::count(survey.participants, holding, &Participant::holding));
}

// Returns when the first of the holders, or of the waiting contenders, came; nothing if there is none.
std::optional<double> first_came(const Survey& survey, bool holding) {
  int64_t first = 0;
  for (const Participant& participant : survey.participants) {
    const int64_t came = participant.came_ms();
    if (participant.holding == holding && (first == 0 || came < first)) first = came;
  }
  return timestamp_of(first);
}

std::string labels_of(const Survey& survey) {
  return label_of("lock", survey.path);
}

constexpr MetricFamily<Survey> kFamilies[] = {
    {"zklock_lock_held", "gauge", "1 if somebody holds the lock, else 0.",
     [](const Survey& s) { return std::optional(count(s, true) > 0 ? 1.0 : 0.0); }, labels_of},
    {"zklock_lock_holders", "gauge", "Holders of the lock; several, where they share it or have slots.",
     [](const Survey& s) { return std::optional(count(s, true)); }, labels_of},
    {"zklock_lock_waiters", "gauge", "Those who wait for the lock.",
     [](const Survey& s) { return std::optional(count(s, false)); }, labels_of},
    {"zklock_lock_first_holder_timestamp_seconds", "gauge",
     "When the first of the holders came: it has held the lock since then, or since its turn.",
     [](const Survey& s) { return first_came(s, true); }, labels_of},
    {"zklock_lock_first_waiter_timestamp_seconds", "gauge", "When the first of those who wait came.",
     [](const Survey& s) { return first_came(s, false); }, labels_of},
    {"zklock_lock_last_success_timestamp_seconds", "gauge", "When a command last succeeded under --once-per.",
     [](const Survey& s) { return timestamp_of(s.last_success_ms); }, labels_of},
};

}  // namespace

// A lock that was named twice has one sample.
std::string prometheus_of(std::vector<Survey> surveys) {
  std::ranges::sort(surveys, {}, &Survey::path);
  const auto twice = std::ranges::unique(surveys, {}, &Survey::path);
  surveys.erase(twice.begin(), twice.end());
  std::string text;
  for (const auto& family : kFamilies) text += exposed(family, std::span<const Survey>(surveys));
  return text;
}

}  // namespace zklock::command
