// SPDX-License-Identifier: Apache-2.0
// zklock queue list and count: what is in a queue.
#include "base/text.h"
#include "command/cli/format.h"
#include "command/cli/table.h"
#include "command/queue/visit.h"

#include <cstdint>
#include <memory>

#include <fmt/format.h>

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

struct AdminOptions {
  Value count;
  bool long_form = false;
  bool dead = false;
  bool exact = false;
  FormatOptions format;
};

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
  visit.session().close();
  return 0;
}

// A queue that does not exist has nothing in it.
int count(const Call& call, const AdminOptions& options) {
  const Format format = format_of(options.format, kTextJsonOrPrometheus);
  QueueVisit visit(path_of_queue(call), "count", call.global);
  recipe::QueueCounts count;
  int64_t oldest_ms = 0;
  if (visit.look()) {
    count = visit.count_found(options.exact);
    if (format == Format::prometheus) oldest_ms = visit.find_oldest(count);
  } else {
    visit.remark("there is no queue " + visit.layout().queue);
  }
  visit.session().close();
  print(format == Format::prometheus ? prometheus_of(visit.layout().queue, count, options.exact, oldest_ms)
        : format == Format::json     ? json_of(count, options.exact)
                                     : text_of(count, options.exact));
  return 0;
}

}  // namespace

Execute add_queue_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue list [OPTIONS] QUEUE");
  add_value(app, "-N,--count", options->count, "Show the first N", "N");
  add_flag(app, "--dead", options->dead, "Show the dead letters instead");
  add_long_option(app, options->long_form);
  add_format_options(app, options->format, "One JSON object per line and item");
  add_global_options(app, global);
  set_footer(app, kListFooter);
  return execute_with(list, options);
}

Execute add_queue_count(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<AdminOptions>();
  set_usage(app, "Usage: zklock queue count [OPTIONS] QUEUE");
  add_flag(app, "--exact", options->exact, "Also count the items in work: reads each item");
  add_format_options(app, options->format, "One JSON object", kTextJsonOrPrometheus);
  add_global_options(app, global);
  set_footer(app, kCountFooter);
  return execute_with(count, options);
}

}  // namespace zklock::command
