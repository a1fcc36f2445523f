// SPDX-License-Identifier: Apache-2.0
#include "command/subcommands.h"

#include "command/cli/help.h"
#include "command/complete_path.h"
#include "command/group/create.h"
#include "command/group/delete.h"
#include "command/group/group.h"
#include "command/group/join.h"
#include "command/group/list.h"
#include "command/group/wait.h"
#include "command/group/watch.h"
#include "command/health/health.h"
#include "command/health/word.h"
#include "command/lock/break.h"
#include "command/lock/locks.h"
#include "command/lock/run.h"
#include "command/queue/queue.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

namespace zklock::command {

namespace {

struct Entry {
  const char* name;
  void (*add)(CLI::App& parent, Starts& starts, const Entry& entry);
  const char* help = nullptr;
  AddOptions options = nullptr;
  const char* purpose = nullptr;  // under which the help shows it; "": it does not
  std::span<const Entry> below = {};
};

// A subcommand is a class that adds itself to `parent` when it is made, and has global() and execute().
template <typename Subcommand, typename... Name>
void add(CLI::App& parent, Starts& starts, Name... name) {
  const auto subcommand = std::make_shared<Subcommand>(parent, name...);
  const CLI::App* app = parent.get_subcommands(nullptr).back();
  const auto execute = [subcommand](const Call& call) {
    return subcommand->execute(call.arguments, call.global, call.inherited, call.policy);
  };
  starts[app] = {execute, std::shared_ptr<GlobalOptions>(subcommand, &subcommand->global())};
}

template <typename Subcommand>
void add_entry(CLI::App& parent, Starts& starts, const Entry&) {
  add<Subcommand>(parent, starts);
}

template <CLI::App& (*kAdd)(CLI::App&)>
void add_parent(CLI::App& parent, Starts&, const Entry&) {
  kAdd(parent);
}

void add_word(CLI::App& parent, Starts& starts, const Entry& entry) {
  add<Word, const char*>(parent, starts, entry.name);
}

void add_function(CLI::App& parent, Starts& starts, const Entry& entry) {
  CLI::App& app = *add_command(parent, entry.name, entry.help);
  const auto global = std::make_shared<GlobalOptions>();
  if (Execute execute = entry.options(app, *global)) starts[&app] = {std::move(execute), global};
}

constexpr Entry kQueue[] = {
    {"push", add_function, "Put items into a queue", add_queue_push},
    {"pull", add_function, "Take items out of a queue", add_queue_pull},
    {"list", add_function, "Show what is in a queue", add_queue_list},
    {"count", add_function, "Count the items of a queue", add_queue_count},
    {"requeue", add_function, "Put back what was given up on", add_queue_requeue},
    {"purge", add_function, "Throw away what is in a queue", add_queue_purge},
    {"delete", add_function, "Remove a queue that is empty", add_queue_delete},
};

constexpr Entry kGroup[] = {
    {"join", add_entry<GroupJoin>}, {"list", add_entry<GroupList>},     {"watch", add_entry<GroupWatch>},
    {"wait", add_entry<GroupWait>}, {"create", add_entry<GroupCreate>}, {"delete", add_entry<GroupDelete>},
};

constexpr Entry kRoot[] = {
    {"run", add_entry<Run>, nullptr, nullptr, "Locks"},
    {"show", add_function, "Show who holds a lock and who waits for it", add_show, "Locks"},
    {"break", add_entry<Break>, nullptr, nullptr, "Locks"},
    {"queue", add_function, "Queues: put items in, look at them, take them out", add_queue, "Queues", kQueue},
    {"group", add_parent<add_group>, nullptr, nullptr, "Groups", kGroup},
    {"health", add_entry<Health>, nullptr, nullptr, "Health"},
    {"ruok", add_word, nullptr, nullptr, "Health"},
    {"stat", add_word, nullptr, nullptr, "Health"},
    {"srvr", add_word, nullptr, nullptr, "Health"},
    {"mntr", add_word, nullptr, nullptr, "Health"},
    {"4lw", add_word, nullptr, nullptr, "Health"},
    {"complete-path", add_entry<CompletePath>, nullptr, nullptr, ""},
};

bool add_named(CLI::App& parent, std::span<const Entry> entries, std::span<const std::string> words, Starts& starts) {
  const auto is_named = [&](const Entry& entry) { return !words.empty() && words.front() == entry.name; };
  const bool named = std::any_of(entries.begin(), entries.end(), is_named);
  for (const Entry& entry : entries) {
    if (named && !is_named(entry)) continue;
    entry.add(parent, starts, entry);
    CLI::App& app = *parent.get_subcommands(nullptr).back();
    if (entry.purpose) app.group(entry.purpose);
    add_named(app, entry.below, named ? words.subspan(1) : std::span<const std::string>(), starts);
  }
  return named;
}

}  // namespace

bool add_subcommands(CLI::App& root, std::span<const std::string> words, Starts& starts) {
  if (add_named(root, kRoot, words, starts)) return true;
  // It tells of all.
  add<Help>(root, starts);
  root.get_subcommands(nullptr).back()->group("");
  return false;
}

}  // namespace zklock::command
