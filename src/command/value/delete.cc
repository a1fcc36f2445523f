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

class Deletion {
 public:
  Deletion(const Call& call, const ValueDeleteOptions& options)
      : options_(options),
        change_{recipe::ChangeKind::remove, path_of(call, kValuePath)},
        tried_("cannot delete " + change_.path),
        session_(loop_, session_options(call.global)) {
    if (options.yes && !options.recursive) throw usage_error("--yes is for -r");
    if (options.dry_run && !options.recursive) throw usage_error("--dry-run is for -r");
    if (options.recursive && !options.yes && !options.dry_run) check_can_ask();
    if (options.version) {
      change_.kind = recipe::ChangeKind::remove_version;
      change_.version = version_of(*options.version, "--if-version");
    }
    if (options.fenced) change_.held = held_nodes(session_.options().servers);
    session_.set_purpose(tried_);
  }

  void run() {
    session_.open();
    if (options_.dry_run) return show();
    if (options_.recursive && !options_.yes) ask();
    try {
      remove();
    } catch (const Failure& failure) {
      if (removed_ == 0 && failure.signal() == 0) throw;
      const std::string part = fmt::format("{} {} removed before", counted(static_cast<int64_t>(removed_), "node"),
                                           removed_ == 1 ? "was" : "were");
      if (failure.signal() == 0) throw Failure(failure.status(), fmt::format("{}; {}", failure.text(), part));
      host::say_error(fmt::format("interrupted: {}, and some more may be", part));
      throw;
    }
  }

 private:
  // A signal ends this with a count. It ends the question before, as it ends any program.
  recipe::ChangeResult remove_tree() {
    host::Signals signals;
    host::EndOnSignal end_on_signal(signals);
    const host::Attached receiving(loop_, signals);
    const host::Attached ending(loop_, end_on_signal);
    return recipe::remove_subtree(session_, change_, tried_, removed_);
  }

  void remove() {
    const recipe::ChangeResult result =
        options_.recursive ? remove_tree() : recipe::change_value(session_, change_, tried_);
    session_.close();
    if (result.end == recipe::ChangeEnd::has_children) throw not_empty(result.children);
    check_end(result, tried_);
  }

  void show() {
    const std::vector<std::string> paths = recipe::list_removable(session_, change_.path, tried_);
    session_.close();
    if (paths.empty()) throw no_such_node(tried_);
    for (const std::string& path : paths) print(printable(path) + '\n');
  }

  void ask() {
    const size_t nodes = recipe::list_subtree(session_, change_.path, tried_).size();
    if (nodes <= 1) return;
    session_.close();
    confirm(fmt::format("zklock: delete {} and {} below it?", change_.path,
                        counted(static_cast<int64_t>(nodes) - 1, "node")),
            change_.path);
    session_.open();
  }

  Failure not_empty(int32_t below) const {
    const std::string nodes = counted(below, "node");
    if (options_.recursive) {
      return {ExitStatus::busy, fmt::format("{}: others keep adding to it; {} below it {} left", tried_, nodes,
                                            below == 1 ? "is" : "are")};
    }
    return {ExitStatus::bad_data, fmt::format("{}: {} below it; -r deletes them too", tried_, nodes)};
  }

  const ValueDeleteOptions& options_;
  recipe::ValueChange change_;
  std::string tried_;
  host::Loop loop_;
  zk::Session session_;
  size_t removed_ = 0;  // nodes
};

}  // namespace

Execute add_value_delete(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueDeleteOptions>();
  set_usage(app, "Usage: zklock value delete [OPTIONS] PATH");
  add_value(app, "--if-version", options->version, "Only if it has version N, else exit 75", "N");
  add_flag(app, "--fenced", options->fenced, "Only while the lock around it is held, else 76");
  add_flag(app, "-r,--recursive", options->recursive, "Delete all nodes below it too; asks first");
  add_flag(app, "--dry-run", options->dry_run, "With -r: list those nodes, and change nothing");
  add_flag(app, "--yes", options->yes, "Do not ask for confirmation");
  add_global_options(app, global);
  set_footer(app, kDeleteFooter);
  return [options](const Call& call) {
    Deletion(call, *options).run();
    return 0;
  };
}

}  // namespace zklock::command
