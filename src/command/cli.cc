// SPDX-License-Identifier: Apache-2.0
#include "command/cli.h"

#include "command/arguments.h"
#include "command/break.h"
#include "command/complete_path.h"
#include "command/group.h"
#include "command/group_create.h"
#include "command/group_delete.h"
#include "command/group_join.h"
#include "command/group_list.h"
#include "command/group_wait.h"
#include "command/group_watch.h"
#include "command/health.h"
#include "command/help.h"
#include "command/options.h"
#include "command/output.h"
#include "command/queue.h"
#include "command/queue_count.h"
#include "command/queue_delete.h"
#include "command/queue_list.h"
#include "command/queue_pull.h"
#include "command/queue_purge.h"
#include "command/queue_push.h"
#include "command/queue_requeue.h"
#include "command/run.h"
#include "command/show.h"
#include "command/version.h"
#include "command/word.h"

#include <functional>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock run -w 5m -c 'make && deploy' /locks/deploy\n\n"
    "Manual: zklock(1)";

// With all options: `global` are those that stood before it.
using Start = std::function<int(const Arguments& arguments, GlobalOptions global, const host::Inherited& inherited,
                                Manner& manner)>;

// How to start each subcommand that does something; one that only has others below it does not.
using Starts = std::map<const CLI::App*, Start>;

// A subcommand is a class that adds itself to `parent` when it is made, and has global() and execute().
template <typename Subcommand, typename... Name>
void add(CLI::App& parent, Starts& starts, Name... name) {
  const auto subcommand = std::make_shared<Subcommand>(parent, name...);
  const CLI::App* app = parent.get_subcommands(nullptr).back();
  starts[app] = [subcommand](const Arguments& arguments, GlobalOptions global, const host::Inherited& inherited,
                             Manner& manner) {
    global.merge(subcommand->global());
    manner.quiet = global.quiet;
    return subcommand->execute(arguments, global, inherited, manner);
  };
}

// What was added since the last call stands together in the help; under "" it is not shown there.
void file_under(CLI::App& root, const char* purpose) {
  for (CLI::App* app : root.get_subcommands(nullptr)) {
    if (app->get_group() == "Subcommands") app->group(purpose);
  }
}

// The innermost subcommand that was named, or the root.
CLI::App& named(CLI::App& root) {
  const auto below = root.get_subcommands();
  return below.empty() ? root : named(*below.front());
}

// Of `app` and the subcommands named below it, down to the one that is started, which looks at its words itself.
void check_chosen(const CLI::App& app, const Starts& starts) {
  if (starts.contains(&app)) return;
  const auto rest = app.remaining();
  if (!rest.empty()) throw unknown_word(app, rest.front());
  if (!app.get_subcommands().empty()) return check_chosen(*app.get_subcommands().front(), starts);
  if (app.get_parent()) {
    throw usage_error(fmt::format("no command named: see zklock {} --help", app.get_name()));
  }
  throw usage_error("no command named: write zklock run LOCK -- COMMAND, or see zklock help");
}

// Who reads the status of health knows four of them only.
void set_failure_status(CLI::App& root, Manner& manner) {
  if (named(root).get_name() == "health") manner.failure_status = Health::kFailureStatus;
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, Manner& manner) {
  CLI::App root("Distributed locks, queues, groups and health checks for the shell, on ZooKeeper", "zklock");
  set_usage(root, "Usage: zklock COMMAND [OPTIONS] ...\n       zklock help [COMMAND]");
  root.footer(kFooter);
  root.allow_extras();
  root.require_subcommand(0, 1);
  bool version = false;
  root.add_flag("-V,--version", version, "Print the version");
  GlobalOptions global;
  add_global_options(root, global);
  Starts starts;
  add<Run>(root, starts);
  add<Show>(root, starts);
  add<Break>(root, starts);
  file_under(root, "Locks");
  CLI::App& queue = add_queue(root);
  add<QueuePush>(queue, starts);
  add<QueuePull>(queue, starts);
  add<QueueList>(queue, starts);
  add<QueueCount>(queue, starts);
  add<QueueRequeue>(queue, starts);
  add<QueuePurge>(queue, starts);
  add<QueueDelete>(queue, starts);
  file_under(root, "Queues");
  CLI::App& group = add_group(root);
  add<GroupJoin>(group, starts);
  add<GroupList>(group, starts);
  add<GroupWatch>(group, starts);
  add<GroupWait>(group, starts);
  add<GroupCreate>(group, starts);
  add<GroupDelete>(group, starts);
  file_under(root, "Groups");
  add<Health>(root, starts);
  for (const char* word : {"ruok", "stat", "srvr", "mntr", "4lw"}) add<Word>(root, starts, word);
  file_under(root, "Health");
  add<Help>(root, starts);
  add<CompletePath>(root, starts);
  file_under(root, "");

  const Arguments arguments = Arguments::cut(argc, argv);
  try {
    // CLI11 takes them from the back.
    root.parse(std::vector<std::string>(arguments.options.rbegin(), arguments.options.rend()));
  } catch (const CLI::CallForHelp&) {
    print(named(root).help());
    return 0;
  } catch (const CLI::ParseError& error) {
    set_failure_status(root, manner);
    throw usage_error_of(named(root), error);
  }
  if (version) {
    print(version_text());
    return 0;
  }
  set_failure_status(root, manner);
  check_chosen(root, starts);
  return starts.at(&named(root))(arguments, global, inherited, manner);
}

}  // namespace zklock::command
