// SPDX-License-Identifier: Apache-2.0
// zklock queue list and count: what is in a queue.
#include "base/text.h"
#include "command/cli/format.h"
#include "command/cli/metrics.h"
#include "command/cli/table.h"
#include "command/queue/visit.h"

#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

constexpr const char* kListFooter =
    "Examples:\n"
    "  zklock queue list -N 10 /queues/urls\n"
    "  zklock queue list --dead --json /queues/urls | jq -r .id\n\n"
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server,\n"
    "74 output failed, 75 no such queue, 77 refused.\n"
    "Manual: zklock-queue(1)";

constexpr const char* kCountFooter =
    "Examples:\n"
    "  zklock queue count /queues/urls\n"
    "  zklock queue count --json --exact /queues/urls | jq .in_work\n\n"
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server,\n"
    "74 output failed, 77 refused.\n"
    "Manual: zklock-queue(1)";

using recipe::QueueCounts;

struct AdminOptions {
  Value count;
  bool long_form = false;
  bool dead = false;
  bool exact = false;
  FormatOptions format;
};

// Returns a JSON object, or lines "items 3", "dead 0" and, if `exact`, "in_work 1".
std::string text_of(const QueueCounts& count, bool exact, bool json) {
  nlohmann::ordered_json counts{{"items", count.items}, {"dead", count.dead}};
  if (exact) counts["in_work"] = count.in_work;
  if (json) return json_line(counts);
  std::string text;
  for (const auto& [name, number] : counts.items()) text += fmt::format("{} {}\n", name, number.dump());
  return text;
}

std::string gauge(const char* name, const char* help, const std::string& labels, std::optional<double> value) {
  return family_of(name, "gauge", help, value ? sample_of(name, labels, *value) : "");
}

// If no priority was ever used, the usual one is reported as empty.
std::string samples_of(const std::string& labels, const QueueCounts& count) {
  constexpr const char* kName = "zklock_queue_items";
  std::map<int, int64_t> priorities = count.priorities;
  if (priorities.empty()) priorities[recipe::kUsualPriority];
  std::string samples;
  for (const auto& [priority, items] : priorities) {
    samples += sample_of(kName, fmt::format("{},{}", labels, label_of("priority", fmt::to_string(priority))),
                         static_cast<double>(items));
  }
  return family_of(kName, "gauge", "Items of a priority, those in work among them.", samples);
}

// `oldest_ms`: when the oldest item was pushed, ms since 1970 by the server's clock; 0: unknown, or none.
std::string prometheus_of(const std::string& queue, const QueueCounts& count, bool exact, int64_t oldest_ms) {
  const std::string labels = label_of("queue", queue);
  return samples_of(labels, count) +
         gauge("zklock_queue_items_in_work", "Items that somebody works on.", labels,
               exact ? std::optional(static_cast<double>(count.in_work)) : std::nullopt) +
         gauge("zklock_queue_dead_items", "Items that were given up on.", labels, static_cast<double>(count.dead)) +
         gauge("zklock_queue_oldest_item_timestamp_seconds", "When the oldest item was pushed.", labels,
               timestamp_of(oldest_ms));
}

int list(const Call& call, const AdminOptions& options) {
  const size_t most = options.count ? static_cast<size_t>(number_of(*options.count, "--count", 1)) : SIZE_MAX;
  const bool json = is_json(options.format);
  check_long(options.long_form, json ? Format::json : Format::text);
  QueueVisit visit(path_of_queue(call), "list", call.global);
  visit.open();
  recipe::QueueWalk walk = visit.walk(options.dead);
  QueueReport report(options.dead, json, table_display(options.long_form).columns);
  for (size_t listed = 0;;) {
    const std::vector<recipe::QueueItem> items = walk.next(most - listed);
    if (items.empty()) break;
    visit.print(report.text_of(items));
    listed += items.size();
  }
  visit.session.close();
  return 0;
}

// A queue that does not exist has nothing in it.
int count(const Call& call, const AdminOptions& options) {
  const Format format = format_of(options.format, kTextJsonOrPrometheus);
  QueueVisit visit(path_of_queue(call), "count", call.global);
  QueueCounts count;
  int64_t oldest_ms = 0;
  if (visit.look()) {
    count = visit.count(options.exact);
    if (format == Format::prometheus) oldest_ms = recipe::find_oldest(visit.session, visit.layout, count);
  } else {
    visit.remark("there is no queue " + visit.layout.queue);
  }
  visit.session.close();
  print(format == Format::prometheus ? prometheus_of(visit.layout.queue, count, options.exact, oldest_ms)
                                     : text_of(count, options.exact, format == Format::json));
  return 0;
}

}  // namespace

Execute add_queue_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  add_value(app, "-N,--count", options->count, "Show the first N", "N");
  add_flag(app, "--dead", options->dead, "Show the dead letters instead");
  add_long_option(app, options->long_form);
  add_format_options(app, options->format, "One JSON object per line and item");
  finish(app, global, "Usage: zklock queue list [OPTIONS] QUEUE", kListFooter);
  return execute_with(list, options);
}

Execute add_queue_count(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  add_flag(app, "--exact", options->exact, "Also count the items in work: reads each item");
  add_format_options(app, options->format, "One JSON object", kTextJsonOrPrometheus);
  finish(app, global, "Usage: zklock queue count [OPTIONS] QUEUE", kCountFooter);
  return execute_with(count, options);
}

}  // namespace zklock::command
