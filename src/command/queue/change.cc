// SPDX-License-Identifier: Apache-2.0
// zklock queue requeue, purge and delete change a queue as a whole, or with --dry-run say what they would change.
#include "base/text.h"
#include "command/queue/visit.h"
#include "recipe/queue/upkeep.h"
#include "zk/path.h"

#include <functional>
#include <memory>
#include <set>

namespace zklock::command {

namespace {

constexpr const char* kRequeueFooter =
    "Examples:\n"
    "  zklock queue requeue /queues/urls        # all of it\n"
    "  zklock queue list --dead /queues/urls    # shows the IDs\n\n"
    "Exit status: 0; 64 usage, 65 not a queue or an ID is unknown,\n"
    "69 no server, 75 no such queue, 77 refused.\n"
    "Manual: zklock-queue(1)";

constexpr const char* kPurgeFooter =
    "Examples:\n"
    "  zklock queue purge /queues/urls            # says how many and asks first\n"
    "  zklock queue purge --yes --dead /queues/urls\n\n"
    "Exit status: 0; 1 you said no; 64 usage, 65 the path is no queue, 69 no server,\n"
    "75 no such queue, 77 refused.\n"
    "Manual: zklock-queue(1)";

constexpr const char* kDeleteFooter =
    "Examples:\n"
    "  zklock queue delete /queues/urls           # if it is empty; asks first\n"
    "  zklock queue purge --yes /q && zklock queue delete --yes /q\n\n"
    "Exit status: 0 it is gone; 1 you said no; 64 usage, 65 the path is no queue,\n"
    "69 no server, 75 it is in use, or no such queue, 77 refused.\n"
    "Manual: zklock-queue(1)";

struct ChangeOptions {
  bool dead = false;
  bool yes = false;
  bool dry_run = false;

  bool asks() const { return !yes && !dry_run; }
};

// Counts the dead letters whose names are in `ids`, or all if `ids` is empty. Removes the IDs that it has found from
// `ids`, as recipe::requeue() does.
int64_t count_dead(QueueVisit& visit, std::set<std::string>& ids) {
  const bool all = ids.empty();
  int64_t count = 0;
  recipe::QueueWalk walk = visit.walk(true);
  for (auto items = walk.next(SIZE_MAX); !items.empty(); items = walk.next(SIZE_MAX)) {
    for (const recipe::QueueItem& item : items) {
      if (all || ids.erase(recipe::id_of(item.path)) != 0) ++count;
    }
  }
  return count;
}

// Adds to the message of a failure what was done before it.
void do_all(const std::function<void()>& act, const std::function<std::string()>& done) {
  try {
    act();
  } catch (const Failure& failure) {
    const std::string before = done();
    if (before.empty()) throw;
    if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), before));
    host::say_error("interrupted: " + before);
    throw;
  }
}

recipe::Purged take_out(QueueVisit& visit, bool dead) {
  recipe::Purged purged;
  do_all([&] { recipe::purge_queue(visit.session, visit.layout, visit.found, dead, purged); },
         [&] { return purged.removed == 0 ? "" : items_are(purged.removed) + " deleted"; });
  return purged;
}

int requeue(const Call& call, const ChangeOptions& options) {
  const auto [path, rest] = queue_words(call);
  std::set<std::string> ids(rest.begin(), rest.end());
  QueueVisit visit(path, "requeue to", call.global);
  const bool all = ids.empty();
  visit.open();
  int64_t moved = options.dry_run ? count_dead(visit, ids) : 0;
  const auto done = [&] { return fmt::format("{} back in {}", items_are(moved), visit.layout.queue); };
  if (!options.dry_run) {
    do_all([&] { recipe::requeue(visit.session, visit.layout, visit.found, ids, moved); },
           [&] { return moved == 0 ? "" : done(); });
  }
  visit.session.close();
  if (options.dry_run) print(fmt::format("would put {} back into {}\n", counted(moved, "item"), path));
  if (!options.dry_run) visit.remark(done());
  if (all || ids.empty()) return 0;
  throw Failure(ExitStatus::bad_data, fmt::format("cannot requeue '{}' to {}: no dead letter has that ID; zklock "
                                                  "queue list --dead shows them",
                                                  printable(*ids.begin()), path));
}

int show_purge(QueueVisit& visit, const ChangeOptions& options) {
  const recipe::QueueCounts count = visit.count(!options.dead);
  visit.session.close();
  const int64_t free = options.dead ? count.dead : count.items - count.in_work;
  std::string text =
      fmt::format("would delete {} of {}", counted(free, options.dead ? "dead letter" : "item"), visit.layout.queue);
  if (count.in_work > 0) text += fmt::format(", and leave {} in work", count.in_work);
  print(text + '\n');
  return 0;
}

int purge(const Call& call, const ChangeOptions& options) {
  const std::string path = path_of_queue(call);
  if (options.asks()) check_can_ask();
  QueueVisit visit(path, "purge", call.global);
  visit.open();
  if (options.dry_run) return show_purge(visit, options);
  if (options.asks()) {
    const recipe::QueueCounts count = visit.count(false);
    visit.confirm(fmt::format("delete {} of {}?",
                              options.dead ? counted(count.dead, "dead letter") : counted(count.items, "item"), path));
  }
  const recipe::Purged purged = take_out(visit, options.dead);
  visit.session.close();
  const std::string text = fmt::format("{} deleted", items_are(purged.removed));
  if (!purged.foreign.empty()) {
    throw Failure(
        ExitStatus::bad_data,
        fmt::format("cannot purge all of {}: {}, and {} left: {} is not zklock's; remove that first", path, text,
                    items_are(static_cast<int64_t>(purged.foreign.size())), printable(purged.foreign.front())));
  }
  if (purged.in_work == 0) {
    visit.remark(text);
  } else {
    host::say_error(fmt::format("{}, {} in work and left in {}", text, items_are(purged.in_work), path));
  }
  return 0;
}

Failure not_deleted(const std::string& path, const recipe::QueueCounts& count) {
  const bool empty = count.items + count.dead == 0;
  return {ExitStatus::busy,
          fmt::format("cannot delete {}: {}", path,
                      empty ? "somebody pushes to it or waits for items"
                            : fmt::format("{} in it and {} dead; zklock queue purge deletes the items, with --dead "
                                          "the dead letters",
                                          items_are(count.items), count.dead))};
}

int remove(const Call& call, const ChangeOptions& options) {
  const std::string path = path_of_queue(call);
  if (options.asks()) check_can_ask();
  QueueVisit visit(path, "delete", call.global);
  visit.folders.push_back(path);
  visit.deletes = true;
  visit.open();
  if (options.asks()) visit.confirm(fmt::format("delete {}?", path));
  const bool deleted = !options.dry_run && recipe::delete_queue(visit.session, visit.layout, visit.found);
  recipe::QueueCounts count;
  if (options.dry_run) count = visit.count(false);
  if (!options.dry_run && !deleted) count = recipe::count_queue(visit.session, visit.layout, false);
  visit.session.close();
  if (deleted) return 0;
  if (!options.dry_run || count.items + count.dead > 0) throw not_deleted(path, count);
  print(fmt::format("would delete {}\n", path));
  return 0;
}

}  // namespace

Execute add_queue_requeue(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ChangeOptions>();
  add_flag(app, "--dry-run", options->dry_run, "Say what would be put back, and change nothing");
  finish(app, global, "Usage: zklock queue requeue [OPTIONS] QUEUE [ID...]", kRequeueFooter);
  return execute_with(requeue, options);
}

Execute add_queue_purge(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ChangeOptions>();
  add_flag(app, "--dead", options->dead, "Delete the dead letters instead");
  add_flag(app, "--dry-run", options->dry_run, "Say how many it would be, and change nothing");
  add_flag(app, "--yes", options->yes, "Do not ask for confirmation");
  finish(app, global, "Usage: zklock queue purge [OPTIONS] QUEUE", kPurgeFooter);
  return execute_with(purge, options);
}

Execute add_queue_delete(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ChangeOptions>();
  add_flag(app, "--dry-run", options->dry_run, "Say whether it is empty, and change nothing");
  add_flag(app, "--yes", options->yes, "Do not ask for confirmation");
  finish(app, global, "Usage: zklock queue delete [OPTIONS] QUEUE", kDeleteFooter);
  return execute_with(remove, options);
}

}  // namespace zklock::command
