// SPDX-License-Identifier: Apache-2.0
#include "command/start.h"

#include "command/cli/output.h"
#include "command/command_line.h"
#include "host/terminal.h"

#include <algorithm>
#include <deque>

namespace zklock::command {

namespace {

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

int show_brief() {
  host::say_error("no command named");
  host::remark(kBrief);
  return static_cast<int>(ExitStatus::usage);
}

// The destructor would take time, and main ends without it. A simulation (tests/sim) has several.
CommandLine& new_command_line(std::span<const std::string> words) {
  static std::deque<CommandLine> lines;
  return lines.emplace_back(words);
}

}  // namespace

int run_command_line(int argc, char** argv, const host::Inherited& inherited, ExitPolicy& policy) {
  const Arguments arguments = with_help_first(Arguments::cut({argv + std::min(argc, 1), argv + argc}));
  // This comes first, because making all options of all subcommands would take longer than the rest.
  if (asks_for_version(kSubcommands, arguments.options)) {
    print(version_text());
    return 0;
  }
  if (argc < 2) return show_brief();
  CommandLine& line = new_command_line(arguments.options);
  try {
    line.parse(arguments.options);
  } catch (const CLI::CallForHelp&) {
    print(line.named().help());
    return 0;
  } catch (const CLI::ParseError& error) {
    policy.failure_status = line.failure_status();
    throw usage_error_of(line.named(), error);
  }
  if (line.asks_for_version()) {
    print(version_text());
    return 0;
  }
  policy.failure_status = line.failure_status();
  policy.quiet = line.global().quiet;
  return line.execute(arguments, inherited, policy);
}

}  // namespace zklock::command
