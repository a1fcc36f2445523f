// SPDX-License-Identifier: Apache-2.0
// What a subcommand is to the command line: a function that adds its options, and what is called when they are read.
// And the words it is called with, where CLI11's complaints about them become one line that names the culprit.
#pragma once

#include "base/failure.h"
#include "command/cli/options.h"
#include "host/process/spawn.h"
#include "host/signals.h"
#include "zk/path.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class ParseError;
}

namespace zklock::command {

// How main tells the end, as far as the command line was understood.
struct ExitPolicy {
  bool quiet = false;                      // no line where the status is 75
  int busy_status = 75;                    // what is given instead of 75
  std::optional<int> failure_status = {};  // what is given instead of every status of zklock's own

  // What a shell sees of a zklock that ends so.
  int status_of(const Failure& failure) const {
    if (failure.signal() != 0) return 128 + failure.signal();
    const bool busy = failure.status() == ExitStatus::busy;
    return failure_status.value_or(busy ? busy_status : static_cast<int>(failure.status()));
  }
};

// argv, cut at its first "--" before CLI11 sees it: what stands behind is the command, byte for byte.
struct Arguments {
  std::vector<std::string> options;  // before the first "--", without the program's name
  std::vector<std::string> command;  // behind it
  bool separated = false;            // there was a "--"

  static Arguments cut(int argc, char** argv);
};

// What a subcommand is called with.
struct Call {
  const CLI::App& app;          // the subcommand, for its name and its operands
  const Arguments& arguments;   // as they were typed
  const GlobalOptions& global;  // from before and behind the subcommand
  const host::Inherited& inherited;
  ExitPolicy& policy;
};

// Returns the exit status; throws a Failure where that is zklock's own or a signal. Owns the values of its options.
using Execute = std::function<int(const Call& call)>;

// Adds the options, usage and footer of a subcommand to `app`, those global options that it has into `global`, which
// outlives the call. Returns nothing where only the subcommands below it do something.
using AddOptions = Execute (*)(CLI::App& app, GlobalOptions& global);

// For an option or argument of `app` that nobody knows, with the nearest one that there is.
Failure unknown_word(const CLI::App& app, const std::string& word);

// For a word that may be the beginning of a command.
Failure unexpected_word(const std::string& word, const Arguments& arguments);

// The words before the "--" that `app` has no option for, those that look like one among them.
std::vector<std::string> words_of(const CLI::App& app);

// The words that `app` was given besides its options, before and behind the "--"; "-" is one. Throws a Failure (64) for
// an option that nobody knows.
std::vector<std::string> operands_of(const CLI::App& app, const Arguments& arguments);

// The one path that a subcommand is about, for messages.
struct PathOperand {
  const char* kind;     // "group"
  const char* example;  // "/groups/web"
  void (*check)(std::string_view path) = zk::check_path;
};

// All throw a Failure (64): for no path, a bad one, a second one.
std::string first_path(const std::vector<std::string>& words, const Call& call, const PathOperand& operand);
Failure second_path(const std::string& word, const PathOperand& operand);
std::string path_of(const Call& call, const PathOperand& operand);

// The same where what stands behind "--" is a command; and that, if there is one. Throws a Failure (126, 127) for one
// that is not to be found.
std::string path_before_command(const Call& call, const PathOperand& operand);
std::optional<host::Program> program_of(const Call& call);

Failure usage_error_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace zklock::command
