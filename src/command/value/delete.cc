// SPDX-License-Identifier: Apache-2.0
// zklock value delete: deletes a node, or a whole tree.
#include "base/text.h"
#include "command/child/nesting.h"
#include "command/cli/output.h"
#include "command/value/value.h"
#include "host/signals.h"
#include "host/terminal.h"
#include "recipe/value/subtree.h"

#include <memory>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kDeleteFooter =
    "Examples:\n"
    "  zklock value delete --if-version 7 /app/limit\n"
    "  zklock value delete -r /app        # says how many and asks first\n\n"
    "Exit status: 0 it is gone; 1 there is no such node, or you said no; 64 usage,\n"
    "65 there are nodes below it, or it is used for something else, 69 no server, or\n"
    "the outcome is unknown, 75 it has changed, or others keep adding to it, 76 the\n"
    "lock is lost, 77 refused.\n"
    "Manual: zklock-value(1)";

struct ValueDeleteOptions {
  Value version;
  bool fenced = false;
  bool recursive = false;
  bool yes = false;
  bool dry_run = false;
};

recipe::ValueChange deletion_of(const std::string& path, const ValueDeleteOptions& options,
                                const zk::ServerList& servers) {
  recipe::ValueChange change{recipe::ChangeKind::remove, path};
  if (options.yes && !options.recursive) throw usage_error("--yes is for -r");
  if (options.dry_run && !options.recursive) throw usage_error("--dry-run is for -r");
  if (options.recursive && !options.yes && !options.dry_run) check_can_ask();
  if (options.version) {
    change.kind = recipe::ChangeKind::remove_version;
    change.version = version_of(*options.version, "--if-version");
  }
  if (options.fenced) change.held = held_nodes(servers);
  change.is_last = !options.recursive;
  return change;
}

void show(Task& task, const std::string& path) {
  const std::vector<std::string> paths = recipe::list_removable(task.session, path, task.tried);
  task.session.close();
  if (paths.empty()) throw no_such_node(task.tried);
  for (const std::string& node : paths) print(printable(node) + '\n');
}

void ask(Task& task, const std::string& path) {
  const size_t nodes = recipe::list_subtree(task.session, path, task.tried).size();
  if (nodes <= 1) return;
  task.session.close();
  confirm(fmt::format("zklock: delete {} and {} below it?", path, counted(nodes - 1, "node")), path);
  task.session.open();
}

// A signal ends this with a count. It ends the question before, as it ends any program.
recipe::ChangeResult remove_tree(Task& task, const recipe::ValueChange& change, size_t& removed) {
  host::Signals signals;
  host::EndOnSignal end_on_signal(signals);
  const host::Attached receiving(task.loop, signals);
  const host::Attached ending(task.loop, end_on_signal);
  return recipe::remove_subtree(task.session, change, task.tried, removed);
}

Failure not_empty(const std::string& tried, int32_t below, bool recursive) {
  const std::string nodes = counted(below, "node");
  if (!recursive) return {ExitStatus::bad_data, fmt::format("{}: {} below it; -r deletes them too", tried, nodes)};
  return {ExitStatus::busy,
          fmt::format("{}: others keep adding to it; {} below it {} left", tried, nodes, below == 1 ? "is" : "are")};
}

void remove(Task& task, const recipe::ValueChange& change, bool recursive) {
  size_t removed = 0;  // nodes
  try {
    const recipe::ChangeResult result =
        recursive ? remove_tree(task, change, removed) : recipe::change_value(task.session, change, task.tried);
    task.session.close();
    if (result.end == recipe::ChangeEnd::has_children) throw not_empty(task.tried, result.children, recursive);
    check_end(result, task.tried);
  } catch (const Failure& failure) {
    if (removed == 0 && failure.signal() == 0) throw;
    const std::string part =
        fmt::format("{} {} removed before", counted(removed, "node"), removed == 1 ? "was" : "were");
    if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), part));
    host::say_error(fmt::format("interrupted: {}, and some more may be", part));
    throw;
  }
}

int delete_value(const Call& call, const ValueDeleteOptions& options) {
  const std::string path = path_of(call, kValuePath);
  Task task(session_options(call.global), "cannot delete " + path);
  const recipe::ValueChange change = deletion_of(path, options, task.session.options().servers);
  task.session.open();
  if (options.dry_run) {
    show(task, path);
    return 0;
  }
  if (options.recursive && !options.yes) ask(task, path);
  remove(task, change, options.recursive);
  return 0;
}

}  // namespace

Execute add_value_delete(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueDeleteOptions>();
  add_value(app, "--if-version", options->version, "Only if it has version N, else exit 75", "N");
  add_flag(app, "--fenced", options->fenced, "Only while the lock around it is held, else 76");
  add_flag(app, "-r,--recursive", options->recursive, "Delete all nodes below it too; asks first");
  add_flag(app, "--dry-run", options->dry_run, "With -r: list those nodes, and change nothing");
  add_flag(app, "--yes", options->yes, "Do not ask for confirmation");
  finish(app, global, "Usage: zklock value delete [OPTIONS] PATH", kDeleteFooter);
  return execute_with(delete_value, options);
}

}  // namespace zklock::command
