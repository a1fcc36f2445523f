// SPDX-License-Identifier: Apache-2.0
#include "command/cli.h"

#include "command/arguments.h"
#include "command/break.h"
#include "command/group.h"
#include "command/group_create.h"
#include "command/group_delete.h"
#include "command/group_join.h"
#include "command/group_list.h"
#include "command/group_wait.h"
#include "command/group_watch.h"
#include "command/health.h"
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
#include "command/word.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>

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

struct Entry {
  const char* name;
  void (*add)(CLI::App& parent, Starts& starts, const char* name);
  std::span<const Entry> below = {};
};

template <typename Subcommand>
void add_entry(CLI::App& parent, Starts& starts, const char*) {
  add<Subcommand>(parent, starts);
}

template <CLI::App& (*kAdd)(CLI::App&)>
void add_parent(CLI::App& parent, Starts&, const char*) {
  kAdd(parent);
}

constexpr auto add_word = add<Word, const char*>;

constexpr Entry kQueue[] = {
    {"push", add_entry<QueuePush>},     {"pull", add_entry<QueuePull>},       {"list", add_entry<QueueList>},
    {"count", add_entry<QueueCount>},   {"requeue", add_entry<QueueRequeue>}, {"purge", add_entry<QueuePurge>},
    {"delete", add_entry<QueueDelete>},
};

constexpr Entry kGroup[] = {
    {"join", add_entry<GroupJoin>}, {"list", add_entry<GroupList>},     {"watch", add_entry<GroupWatch>},
    {"wait", add_entry<GroupWait>}, {"create", add_entry<GroupCreate>}, {"delete", add_entry<GroupDelete>},
};

constexpr Entry kRoot[] = {
    {"run", add_entry<Run>},
    {"show", add_entry<Show>},
    {"break", add_entry<Break>},
    {"queue", add_parent<add_queue>, kQueue},
    {"health", add_entry<Health>},
    {"ruok", add_word},
    {"stat", add_word},
    {"srvr", add_word},
    {"mntr", add_word},
    {"4lw", add_word},
    {"group", add_parent<add_group>, kGroup},
};

// To make all options of all subcommands would take longer than the rest of a start. So only what the first words name
// is made; and where they name nothing everything is, for the help and for a hint. Whether they did.
bool add_named(CLI::App& parent, std::span<const Entry> entries, std::span<const std::string> words, Starts& starts) {
  const auto is_named = [&](const Entry& entry) { return !words.empty() && words.front() == entry.name; };
  const bool named = std::any_of(entries.begin(), entries.end(), is_named);
  for (const Entry& entry : entries) {
    if (named && !is_named(entry)) continue;
    entry.add(parent, starts, entry.name);
    CLI::App& app = *parent.get_subcommands(nullptr).back();
    add_named(app, entry.below, named ? words.subspan(1) : std::span<const std::string>(), starts);
  }
  return named;
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
  throw usage_error("no command named: write zklock run LOCK -- COMMAND, or see zklock --help");
}

// Who reads the status of health knows four of them only.
void set_failure_status(CLI::App& root, Manner& manner) {
  if (named(root).get_name() == "health") manner.failure_status = Health::kFailureStatus;
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, Manner& manner) {
  CLI::App root("Distributed locks for the shell, on ZooKeeper", "zklock");
  set_usage(root, "Usage: zklock COMMAND [OPTIONS] ...");
  root.footer(kFooter);
  root.allow_extras();
  root.require_subcommand(0, 1);
  const Arguments arguments = Arguments::cut(argc, argv);
  GlobalOptions global;
  bool version = false;
  Starts starts;
  if (!add_named(root, kRoot, arguments.options, starts)) {
    add_global_options(root, global);
    root.add_flag("-V,--version", version, "Print the version");
  }
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
    print("zklock " ZKLOCK_VERSION "\n");
    return 0;
  }
  set_failure_status(root, manner);
  check_chosen(root, starts);
  return starts.at(&named(root))(arguments, global, inherited, manner);
}

}  // namespace zklock::command
