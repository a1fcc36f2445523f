// SPDX-License-Identifier: Apache-2.0
// The table of all subcommands, and the start of the one that is named. Each subcommand adds its own options, in a
// function that the header of its folder declares.
#include "command/subcommands.h"

#include "command/cli/output.h"
#include "command/group/group.h"
#include "command/health/health.h"
#include "command/health/words.h"
#include "command/lock/locks.h"
#include "command/queue/queue.h"
#include "command/top/top.h"
#include "command/value/value.h"
#include "host/terminal.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

// --- the table

// How a subcommand is started; it has none if only those below it do something.
struct Start {
  Execute execute;
  GlobalOptions global;  // those after the subcommand
  std::optional<int> failure_status;
};

using Starts = std::map<const CLI::App*, Start>;

struct Subcommand {
  const char* name;
  const char* help;
  AddOptions add;
  const char* purpose = nullptr;  // its heading in the help; "": the help does not show it
  std::span<const Subcommand> below = {};
  std::optional<int> failure_status = {};  // replaces every status of zklock's own
};

constexpr Subcommand kQueue[] = {
    {"push", "Put items into a queue", add_queue_push},
    {"pull", "Take items out of a queue", add_queue_pull},
    {"list", "Show what is in a queue", add_queue_list},
    {"count", "Count the items of a queue", add_queue_count},
    {"requeue", "Put dead letters back into a queue", add_queue_requeue},
    {"purge", "Delete the items of a queue", add_queue_purge},
    {"delete", "Remove an empty queue", add_queue_delete},
};

constexpr Subcommand kGroup[] = {
    {"join", "Join a group for a command, or until a signal", add_group_join},
    {"list", "Show the members of a group", add_group_list},
    {"watch", "Print who joins and who leaves", add_group_watch},
    {"wait", "Wait until enough have joined, or left", add_group_wait},
    {"create", "Create a group that outlives its members", add_group_create},
    {"delete", "Remove an empty group", add_group_delete},
};

constexpr Subcommand kValue[] = {
    {"get", "Print a value", add_value_get},
    {"set", "Write a value, also only if it has not changed", add_value_set},
    {"delete", "Delete a node, or a whole tree", add_value_delete},
    {"list", "Show the nodes below a path", add_value_list},
    {"watch", "Print each change, or run a command for it", add_value_watch},
    {"wait", "Wait until a node exists, is gone or has changed", add_value_wait},
};

constexpr Subcommand kRoot[] = {
    {"run", "Run a command under a lock", add_run, "Locks"},
    {"show", "Show who holds a lock and who waits for it", add_show, "Locks"},
    {"break", "Ask the holders of a lock to let go of it", add_break, "Locks"},
    {"queue", "Queues: put items in, look at them, take them out", add_queue, "Queues", kQueue},
    {"group", "Groups: be a member, see who is", add_group, "Groups", kGroup},
    {"value", "Values: read, write and watch configuration", add_value_commands, "Values", kValue},
    {"top", "Show locks, queues, groups and the ensemble live", add_top, "Health"},
    {"health", "Check whether the ensemble is well", add_health, "Health", {}, kHealthFailureStatus},
    {"ruok", "Ask servers whether their process runs", add_word, "Health"},
    {"stat", "Ask servers for their state and their clients", add_word, "Health"},
    {"srvr", "Ask servers for their state; always allowed", add_word, "Health"},
    {"mntr", "Ask servers for their measurements", add_word, "Health"},
    {"4lw", "Ask servers any four-letter word", add_word, "Health"},
    {"complete-path", "For completions", add_complete_path, ""},
};

constexpr Subcommand kHelp{"help", "List the commands, or show the manual of one", add_help, ""};

// --- the options of the subcommand that is named

CLI::App& add(CLI::App& parent, const Subcommand& subcommand, Starts& starts) {
  CLI::App& app = *parent.add_subcommand(subcommand.name, subcommand.help);
  app.allow_extras();  // the subcommand handles words that are no options
  if (subcommand.purpose) app.group(subcommand.purpose);
  // At most one, or CLI11 would take an item called "push" for a subcommand.
  if (!subcommand.below.empty()) app.require_subcommand(0, 1);
  Start& start = starts[&app];
  start.execute = subcommand.add(app, start.global);
  start.failure_status = subcommand.failure_status;
  if (!start.execute) starts.erase(&app);
  return app;
}

// Adds to `parent` only the subcommand that the first of `words` names. Making all options of all subcommands would
// take longer than the rest of a start. If it names none, adds all, for the help and for a hint. Returns whether it
// names one.
bool add_named(CLI::App& parent, std::span<const Subcommand> subcommands, std::span<const std::string> words,
               Starts& starts) {
  const auto is_named = [&](const Subcommand& one) { return !words.empty() && words.front() == one.name; };
  const bool named = std::any_of(subcommands.begin(), subcommands.end(), is_named);
  for (const Subcommand& subcommand : subcommands) {
    if (named && !is_named(subcommand)) continue;
    CLI::App& app = add(parent, subcommand, starts);
    add_named(app, subcommand.below, named ? words.subspan(1) : std::span<const std::string>(), starts);
  }
  return named;
}

// Returns the words from the subcommand on, behind options of `root`; none if there is an option for which all
// subcommands are needed, or one that is not understood here.
std::span<const std::string> behind_options(const CLI::App& root, std::span<const std::string> words) {
  size_t next = 0;
  while (next < words.size() && words[next].starts_with('-')) {
    const std::string& word = words[next++];
    const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
    const CLI::Option* const option = root.get_option_no_throw(name);
    if (!option || option == root.get_help_ptr()) return {};
    const bool has_value = option->get_items_expected_max() > 0;
    if (!has_value && word != name) return {};
    if (has_value && word == name) ++next;
  }
  return words.subspan(std::min(next, words.size()));
}

// --- the command line

constexpr const char* kExamples =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock run -w 5m -c 'make && deploy' /locks/deploy\n";

// Printed for a command line without words.
constexpr const char* kBrief =
    "Usage: zklock COMMAND [OPTIONS] ...\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock show -r /                              # who holds which lock\n"
    "zklock help lists the commands.\n";

// Returns whether the words are -V, or "version" in the place of a command, on any level.
bool asks_for_version(std::span<const Subcommand> subcommands, std::span<const std::string> words) {
  if (words.empty()) return false;
  if (words.size() == 1) {
    const bool word = words[0] == "version" && !subcommands.empty();
    return word || words[0] == "-V" || words[0] == "--version";
  }
  const auto found = std::ranges::find(subcommands, words.front(), &Subcommand::name);
  return found != subcommands.end() && asks_for_version(found->below, words.subspan(1));
}

// Turns "queue help pull" into "help queue pull".
Arguments with_help_first(Arguments arguments) {
  std::vector<std::string>& words = arguments.options;
  const bool parent = words.size() > 1 && (words[0] == "queue" || words[0] == "group" || words[0] == "value");
  if (parent && words[1] == "help") std::swap(words[0], words[1]);
  return arguments;
}

// Returns the innermost subcommand that was named, or the root.
CLI::App& named(CLI::App& root) {
  const auto below = root.get_subcommands();
  return below.empty() ? root : named(*below.front());
}

// Throws a Failure (64) for an unknown word or a missing command, from `app` down to the subcommand that is started,
// which checks its words itself.
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

int show_brief() {
  host::say_error("no command named");
  host::remark(kBrief);
  return static_cast<int>(ExitStatus::usage);
}

void set_failure_status(ExitPolicy& policy, CLI::App& root, const Starts& starts) {
  const auto start = starts.find(&named(root));
  if (start != starts.end()) policy.failure_status = start->second.failure_status;
}

// The parser with what it has read, for a command line that begins with these words.
struct CommandLine {
  CLI::App root{"Distributed locks, queues, groups and values for the shell, on ZooKeeper", "zklock"};
  Starts starts;
  GlobalOptions global;  // those before the subcommand; with parse(), also those after it, which win
  bool version = false;

  explicit CommandLine(std::span<const std::string> words) {
    set_usage(root, "Usage: zklock COMMAND [OPTIONS] ... | zklock help [COMMAND | TOPIC]");
    set_footer(root, fmt::format("{}\nBugs: report them {}\nManual: zklock(1)", kExamples, where_to_report()));
    root.allow_extras();
    root.require_subcommand(0, 1);
    const bool leads = words.empty() || !words.front().starts_with('-');
    if (leads && add_named(root, kRoot, words, starts)) return;
    root.add_flag("-V,--version", version, "Print the version");
    add_global_options(root, global);
    if (!leads && add_named(root, kRoot, behind_options(root, words), starts)) return;
    add(root, kHelp, starts);
  }

  // Throws what CLI11 throws.
  void parse(const std::vector<std::string>& words) {
    // CLI11 takes the words from the back.
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    const auto start = starts.find(&named(root));
    if (start != starts.end()) global.merge(start->second.global);
  }
};

// Its destructor would take time, and main ends without it. A simulation (tests/sim) has several.
CommandLine& new_command_line(std::span<const std::string> words) {
  static std::deque<CommandLine> lines;
  return lines.emplace_back(words);
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy) {
  const Arguments arguments = with_help_first(Arguments::cut({argv + std::min(argc, 1), argv + argc}));
  // This comes first, because making all options of all subcommands would take longer than the rest.
  if (asks_for_version(kRoot, arguments.options)) {
    print(version_text());
    return 0;
  }
  if (argc < 2) return show_brief();
  CommandLine& line = new_command_line(arguments.options);
  CLI::App& root = line.root;
  try {
    line.parse(arguments.options);
  } catch (const CLI::CallForHelp&) {
    print(named(root).help());
    return 0;
  } catch (const CLI::ParseError& error) {
    set_failure_status(policy, root, line.starts);
    throw usage_error_of(named(root), error);
  }
  if (line.version) {
    print(version_text());
    return 0;
  }
  set_failure_status(policy, root, line.starts);
  check_chosen(root, line.starts);
  policy.quiet = line.global.quiet;
  if (line.global.no_color) host::refuse_colours();
  return line.starts.at(&named(root)).execute({named(root), arguments, line.global, inherited, policy});
}

GlobalOptions global_options_in(std::vector<std::string> words) {
  for (bool again = false;; again = true) {
    const Arguments arguments = Arguments::cut(words);
    CommandLine& line = new_command_line(arguments.options);
    try {
      line.parse(arguments.options);
      return line.global;
    } catch (const CLI::ParseError& error) {
      if (again || words.empty()) throw usage_error_of(named(line.root), error);
      words.pop_back();
    }
  }
}

}  // namespace zklock::command
