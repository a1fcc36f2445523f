// SPDX-License-Identifier: Apache-2.0
#include "command/cli.h"

#include "command/arguments.h"
#include "command/options.h"
#include "command/run.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock run -w 5m -c 'make && deploy' /locks/deploy\n\n"
    "Manual: zklock(1)";

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return 0;
  throw Failure(ExitStatus::input_output, "cannot write to standard output");
}

void check_chosen(const CLI::App& root) {
  const auto rest = root.remaining();
  if (!rest.empty()) throw unknown_word(root, rest.front());
  if (!root.get_subcommands().empty()) return;
  throw usage_error("no command named: write zklock run LOCK -- COMMAND, or see zklock --help");
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, Manner& manner) {
  CLI::App root("Distributed locks for the shell, on ZooKeeper", "zklock");
  set_usage(root, "Usage: zklock COMMAND [OPTIONS] ...");
  root.footer(kFooter);
  root.allow_extras();
  root.require_subcommand(0, 1);
  GlobalOptions global;
  add_global_options(root, global);
  bool version = false;
  root.add_flag("-V,--version", version, "Print the version");
  Run run(root);

  const Arguments arguments = Arguments::cut(argc, argv);
  try {
    // CLI11 takes them from the back.
    root.parse(std::vector<std::string>(arguments.options.rbegin(), arguments.options.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto parsed = root.get_subcommands();
    return print((parsed.empty() ? root : *parsed.front()).help());
  } catch (const CLI::ParseError& error) {
    const auto parsed = root.get_subcommands();
    throw usage_error_of(parsed.empty() ? root : *parsed.front(), error);
  }
  if (version) return print("zklock " ZKLOCK_VERSION "\n");
  check_chosen(root);
  global.merge(run.global());
  manner.quiet = global.quiet;
  return run.execute(arguments, global, inherited, manner);
}

}  // namespace zklock::command
