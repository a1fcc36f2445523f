// SPDX-License-Identifier: Apache-2.0
#include "command/queue/count.h"

#include "command/cli/output.h"
#include "command/queue/report.h"
#include "command/queue/visit.h"

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 64 usage, 65 the path is no queue, 69 no server, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue count /queues/urls\n"
    "  zklock queue count --json --exact /queues/urls | jq .in_work\n"
    "Manual: zklock-queue(1)";

}  // namespace

QueueCount::QueueCount(CLI::App& queue) : app_(add_command(queue, "count", "Count the items of a queue")) {
  set_usage(*app_, "Usage: zklock queue count [OPTIONS] QUEUE");
  add_flag(*app_, "--exact", exact_, "Also how many are in work, which looks at each");
  add_flag(*app_, "--json", json_, "An object on one line");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueueCount::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                        ExitPolicy&) const {
  QueueVisit visit(queue_path(*app_, arguments), "count", global);
  recipe::QueueCounts count;
  if (visit.look()) {
    count = recipe::count_queue(visit.session(), visit.layout(), exact_, kNever);
  } else {
    visit.remark("there is no queue " + visit.layout().queue);
  }
  visit.session().close();
  print(json_ ? json_of(count, exact_) : text_of(count, exact_));
  return 0;
}

}  // namespace zklock::command
