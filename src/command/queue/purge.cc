// SPDX-License-Identifier: Apache-2.0
#include "command/queue/purge.h"

#include "command/cli/output.h"
#include "command/queue/push_progress.h"
#include "command/queue/visit.h"
#include "host/terminal.h"
#include "recipe/queue/survey.h"
#include "recipe/queue/upkeep.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 1 you said no; 64 usage, 65 the path is no queue, 69 no server,\n"
    "75 no such queue, 77 refused.\n\n"
    "Examples:\n"
    "  zklock queue purge /queues/urls            # says how many, and asks\n"
    "  zklock queue purge --yes --dead /queues/urls\n"
    "Manual: zklock-queue(1)";

}  // namespace

QueuePurge::QueuePurge(CLI::App& queue) : app_(add_command(queue, "purge", "Throw away what is in a queue")) {
  set_usage(*app_, "Usage: zklock queue purge [OPTIONS] QUEUE");
  add_flag(*app_, "--dead", dead_, "What was given up on instead");
  add_flag(*app_, "--yes", yes_, "Do not ask");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int QueuePurge::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                        ExitPolicy&) const {
  const std::string path = queue_path(*app_, arguments);
  if (!yes_) check_can_ask();
  QueueVisit visit(path, "purge", global);
  visit.open();
  if (!yes_) {
    const recipe::QueueCount count = recipe::count_queue(visit.session(), visit.layout(), false, kNever);
    const int64_t there = dead_ ? count.dead : count.items;
    visit.confirm(fmt::format("throw away {} {} of {}?", there, dead_ ? "dead items" : "items", path));
  }
  const recipe::Purged purged = dead_ ? recipe::purge_dead(visit.session(), visit.layout(), kNever)
                                      : recipe::purge_items(visit.session(), visit.layout(), kNever);
  visit.session().close();
  const std::string text = fmt::format("{} thrown away", items_are(purged.removed));
  if (purged.in_work == 0) {
    visit.remark(text);
  } else {
    host::say_error(fmt::format("{}, {} in work and left in {}", text, items_are(purged.in_work), path));
  }
  return 0;
}

}  // namespace zklock::command
