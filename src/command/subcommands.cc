// SPDX-License-Identifier: Apache-2.0
#include "command/subcommands.h"

#include "command/cli/help.h"
#include "command/complete_path.h"
#include "command/group/group.h"
#include "command/health/health.h"
#include "command/health/word.h"
#include "command/lock/locks.h"
#include "command/queue/count.h"
#include "command/queue/delete.h"
#include "command/queue/list.h"
#include "command/queue/pull.h"
#include "command/queue/purge.h"
#include "command/queue/push.h"
#include "command/queue/queue.h"
#include "command/queue/requeue.h"

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
    {"push", add_entry<QueuePush>},     {"pull", add_entry<QueuePull>},       {"list", add_entry<QueueList>},
    {"count", add_entry<QueueCount>},   {"requeue", add_entry<QueueRequeue>}, {"purge", add_entry<QueuePurge>},
    {"delete", add_entry<QueueDelete>},
};

constexpr Entry kGroup[] = {
    {"join", add_function, "Be a member while a command runs, or until a signal", add_group_join},
    {"list", add_function, "Show who is in a group", add_group_list},
    {"watch", add_function, "Tell who comes and who goes", add_group_watch},
    {"wait", add_function, "Wait until enough have come, or gone", add_group_wait},
    {"create", add_function, "Make a group that stays when nobody is in it", add_group_create},
    {"delete", add_function, "Remove a group that is empty", add_group_delete},
};

constexpr Entry kRoot[] = {
    {"run", add_function, "Run a command under a lock", add_run, "Locks"},
    {"show", add_function, "Show who holds a lock and who waits for it", add_show, "Locks"},
    {"break", add_function, "Have the holders of a lock let go of it", add_break, "Locks"},
    {"queue", add_parent<add_queue>, nullptr, nullptr, "Queues", kQueue},
    {"group", add_function, "Groups: be a member, see who is", add_group, "Groups", kGroup},
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
