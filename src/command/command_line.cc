// SPDX-License-Identifier: Apache-2.0
#include "command/command_line.h"

#include "command/cli/arguments.h"
#include "command/cli/options.h"
#include "command/cli/output.h"
#include "command/cli/version.h"
#include "command/health/health.h"
#include "command/subcommands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock run -w 5m -c 'make && deploy' /locks/deploy\n"
    "Manual: zklock(1)";

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

// "queue help pull" is "help queue pull".
Arguments with_help_first(Arguments arguments) {
  std::vector<std::string>& words = arguments.options;
  const bool parent = words.size() > 1 && (words[0] == "queue" || words[0] == "group");
  if (parent && words[1] == "help") std::swap(words[0], words[1]);
  return arguments;
}

// Who reads the status of health knows four of them only.
void set_failure_status(CLI::App& root, ExitPolicy& policy) {
  if (named(root).get_name() == "health") policy.failure_status = Health::kFailureStatus;
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy) {
  CLI::App root("Distributed locks, queues, groups and health checks for the shell, on ZooKeeper", "zklock");
  set_usage(root, "Usage: zklock COMMAND [OPTIONS] ...\n       zklock help [COMMAND]");
  set_footer(root, kFooter);
  root.allow_extras();
  root.require_subcommand(0, 1);
  const Arguments arguments = with_help_first(Arguments::cut(argc, argv));
  GlobalOptions global;
  bool version = false;
  Starts starts;
  if (!add_subcommands(root, arguments.options, starts)) {
    root.add_flag("-V,--version", version, "Print the version");
    add_global_options(root, global);
  }
  try {
    // CLI11 takes them from the back.
    root.parse(std::vector<std::string>(arguments.options.rbegin(), arguments.options.rend()));
  } catch (const CLI::CallForHelp&) {
    print(named(root).help());
    return 0;
  } catch (const CLI::ParseError& error) {
    set_failure_status(root, policy);
    throw usage_error_of(named(root), error);
  }
  if (version) {
    print(version_text());
    return 0;
  }
  set_failure_status(root, policy);
  check_chosen(root, starts);
  const Start& start = starts.at(&named(root));
  global.merge(*start.global);
  policy.quiet = global.quiet;
  return start.execute({named(root), arguments, global, inherited, policy});
}

}  // namespace zklock::command
