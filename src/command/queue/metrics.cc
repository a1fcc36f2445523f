// SPDX-License-Identifier: Apache-2.0
// zklock queue count --format prometheus.
#include "command/cli/metrics.h"

#include "command/queue/queue.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

std::string gauge(const char* name, const char* help, const std::string& labels, std::optional<double> value) {
  return family_of(name, "gauge", help, value ? sample_of(name, labels, *value) : "");
}

// If no priority was ever used, the usual one is reported as empty.
std::string items_of(const std::string& labels, const recipe::QueueCounts& count) {
  constexpr const char* kName = "zklock_queue_items";
  std::map<int, recipe::PriorityCounts> priorities = count.priorities;
  if (priorities.empty()) priorities[recipe::kUsualPriority];
  std::string samples;
  for (const auto& [priority, counts] : priorities) {
    samples += sample_of(kName, fmt::format("{},{}", labels, label_of("priority", fmt::to_string(priority))),
                         static_cast<double>(counts.items));
  }
  return family_of(kName, "gauge", "Items of a priority, those in work among them.", samples);
}

}  // namespace

std::string prometheus_of(const std::string& queue, const recipe::QueueCounts& count, bool exact, int64_t oldest_ms) {
  const std::string labels = label_of("queue", queue);
  return items_of(labels, count) +
         gauge("zklock_queue_items_in_work", "Items that somebody works on.", labels,
               exact ? std::optional(static_cast<double>(count.in_work)) : std::nullopt) +
         gauge("zklock_queue_dead_items", "Items that were given up on.", labels, static_cast<double>(count.dead)) +
         gauge("zklock_queue_oldest_item_timestamp_seconds", "When the oldest item was pushed.", labels,
               timestamp_of(oldest_ms));
}

}  // namespace zklock::command
