// SPDX-License-Identifier: Apache-2.0
#include "command/subcommands.h"

#include "command/group/group.h"
#include "command/health/health.h"
#include "command/health/words.h"
#include "command/lock/locks.h"
#include "command/queue/queue.h"
#include "command/top/top.h"
#include "command/value/value.h"

namespace zklock::command {

namespace {

constexpr Subcommand kOfQueue[] = {
    {"push", "Put items into a queue", Operands::path, add_queue_push},
    {"pull", "Take items out of a queue", Operands::path_and_command, add_queue_pull},
    {"list", "Show what is in a queue", Operands::path, add_queue_list},
    {"count", "Count the items of a queue", Operands::path, add_queue_count},
    {"requeue", "Put dead letters back into a queue", Operands::path, add_queue_requeue},
    {"purge", "Delete the items of a queue", Operands::path, add_queue_purge},
    {"delete", "Remove an empty queue", Operands::path, add_queue_delete},
};

constexpr Subcommand kOfGroup[] = {
    {"join", "Join a group for a command, or until a signal", Operands::path_and_command, add_group_join},
    {"list", "Show the members of a group", Operands::path, add_group_list},
    {"watch", "Print who joins and who leaves", Operands::path_and_command, add_group_watch},
    {"wait", "Wait until enough have joined, or left", Operands::path, add_group_wait},
    {"create", "Create a group that outlives its members", Operands::path, add_group_create},
    {"delete", "Remove an empty group", Operands::path, add_group_delete},
};

constexpr Subcommand kOfValue[] = {
    {"get", "Print a value", Operands::path, add_value_get},
    {"set", "Write a value, also only if it has not changed", Operands::path, add_value_set},
    {"delete", "Delete a node, or a whole tree", Operands::path, add_value_delete},
    {"list", "Show the nodes below a path", Operands::path, add_value_list},
    {"watch", "Print each change, or run a command for it", Operands::path_and_command, add_value_watch},
    {"wait", "Wait until a node exists, is gone or has changed", Operands::path, add_value_wait},
};

constexpr Subcommand kRoot[] = {
    {"run", "Run a command under a lock", Operands::locks_and_command, add_run, "Locks"},
    {"show", "Show who holds a lock and who waits for it", Operands::paths, add_show, "Locks"},
    {"break", "Ask the holders of a lock to let go of it", Operands::path, add_break, "Locks"},
    {"queue", "Queues: put items in, look at them, take them out", Operands::none, add_queue, "Queues", kOfQueue},
    {"group", "Groups: be a member, see who is", Operands::none, add_group, "Groups", kOfGroup},
    {"value", "Values: read, write and watch configuration", Operands::none, add_value_commands, "Values", kOfValue},
    {"top", "Show locks, queues, groups and the ensemble live", Operands::path, add_top, "Health"},
    {"health", "Check whether the ensemble is well", Operands::servers, add_health, "Health", {}, kHealthFailureStatus},
    {"ruok", "Ask servers whether their process runs", Operands::servers, add_word, "Health"},
    {"stat", "Ask servers for their state and their clients", Operands::servers, add_word, "Health"},
    {"srvr", "Ask servers for their state; always allowed", Operands::servers, add_word, "Health"},
    {"mntr", "Ask servers for their measurements", Operands::servers, add_word, "Health"},
    {"4lw", "Ask servers any four-letter word", Operands::word_and_servers, add_word, "Health"},
    {"complete", "For completions", Operands::none, add_complete, ""},
};

}  // namespace

constinit const std::span<const Subcommand> kSubcommands = kRoot;

}  // namespace zklock::command
