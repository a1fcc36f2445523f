// SPDX-License-Identifier: Apache-2.0
#include "command/queue/list.h"

#include "command/queue/admin.h"
#include "command/queue/report.h"

#include <cstdint>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server,\n"
    "74 output failed, 75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue list -N 10 /queues/urls\n"
    "  zklock queue list --dead --json /queues/urls | jq -r .id\n"
    "Manual: zklock-queue(1)";

}  // namespace

QueueList::QueueList(CLI::App& queue) : app_(add_command(queue, "list", "Show what is in a queue")) {
  set_usage(*app_, "Usage: zklock queue list [OPTIONS] QUEUE");
  add_value(*app_, "-N,--count", count_, "The first N", "N");
  add_flag(*app_, "--dead", dead_, "What was given up on instead");
  add_flag(*app_, "--json", json_, "An object on a line of its own for each item");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueueList::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                       ExitPolicy&) const {
  const size_t most = this->most();
  QueueVisit visit(queue_path(*app_, arguments), "list", global);
  visit.open();
  recipe::QueueWalk walk(visit.session(), dead_ ? visit.layout().dead() : visit.layout().items());
  QueueReport report(dead_, json_);
  for (size_t listed = 0;;) {
    const std::vector<recipe::QueueItem> items = walk.next(most - listed, kNever);
    if (items.empty()) break;
    visit.print(report.text_of(items));
    listed += items.size();
  }
  visit.session().close();
  return 0;
}

size_t QueueList::most() const {
  if (!count_) return SIZE_MAX;
  return static_cast<size_t>(number_of(*count_, "--count", 1));
}

}  // namespace zklock::command
