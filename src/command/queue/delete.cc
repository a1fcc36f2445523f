// SPDX-License-Identifier: Apache-2.0
#include "command/queue/delete.h"

#include "command/cli/output.h"
#include "command/queue/push_progress.h"
#include "command/queue/visit.h"
#include "recipe/queue/survey.h"
#include "recipe/queue/upkeep.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 it is gone; 1 you said no; 64 usage, 65 the path is no queue,\n"
    "69 no server, 75 it is in use, or no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue delete /queues/urls           # if it is empty; asks\n"
    "  zklock queue purge --yes /q && zklock queue delete --yes /q\n"
    "Manual: zklock-queue(1)";

}  // namespace

QueueDelete::QueueDelete(CLI::App& queue) : app_(add_command(queue, "delete", "Remove a queue that is empty")) {
  set_usage(*app_, "Usage: zklock queue delete [OPTIONS] QUEUE");
  add_flag(*app_, "--yes", yes_, "Do not ask");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueueDelete::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                         ExitPolicy&) const {
  const std::string path = queue_path(*app_, arguments);
  if (!yes_) check_can_ask();
  QueueVisit visit(path, "delete", global);
  visit.open();
  if (!yes_) visit.confirm(fmt::format("delete {}?", path));
  const bool deleted = recipe::delete_queue(visit.session(), visit.layout(), kNever);
  recipe::QueueCount count;
  if (!deleted) count = recipe::count_queue(visit.session(), visit.layout(), false, kNever);
  visit.session().close();
  if (deleted) return 0;
  const bool empty = count.items + count.dead == 0;
  throw Failure(
      ExitStatus::busy,
      fmt::format(
          "cannot delete {}: {}", path,
          empty ? "somebody pushes to it or waits for items"
                : fmt::format("{} in it and {} dead; zklock queue purge throws the items away, with --dead the dead",
                              items_are(count.items), count.dead)));
}

}  // namespace zklock::command
