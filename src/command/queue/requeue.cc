// SPDX-License-Identifier: Apache-2.0
#include "command/queue/requeue.h"

#include "base/text.h"
#include "command/queue/push_progress.h"
#include "command/queue/visit.h"
#include "recipe/queue/admin.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 64 usage, 65 not a queue or an ID is unknown,\n"
    "69 no server, 75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue requeue /queues/urls        # all of it\n"
    "  zklock queue list --dead /queues/urls    # shows the IDs\n"
    "Manual: zklock-queue(1)";

}  // namespace

QueueRequeue::QueueRequeue(CLI::App& queue) : app_(add_command(queue, "requeue", "Put back what was given up on")) {
  set_usage(*app_, "Usage: zklock queue requeue [OPTIONS] QUEUE [ID...]");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueueRequeue::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                          ExitPolicy&) const {
  const QueueWords words = queue_words(*app_, arguments);
  std::set<std::string> ids(words.rest.begin(), words.rest.end());
  QueueVisit visit(words.path, "requeue to", global);
  const bool all = ids.empty();
  visit.open();
  const int64_t moved = recipe::requeue(visit.session(), visit.layout(), ids, kNever);
  visit.session().close();
  visit.remark(fmt::format("{} back in {}", items_are(moved), words.path));
  if (all || ids.empty()) return 0;
  throw Failure(ExitStatus::bad_data, fmt::format("cannot requeue '{}' to {}: no dead letter has that ID; zklock "
                                                  "queue list --dead shows them",
                                                  printable(*ids.begin()), words.path));
}

}  // namespace zklock::command
