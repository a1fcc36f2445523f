// SPDX-License-Identifier: Apache-2.0
// A subcommand consists of a function that adds its options and one that runs it. A Call has the words of the command
// line. For CLI11's errors about these words, there is one line that names the bad word.
#pragma once

#include "base/failure.h"
#include "command/cli/options.h"
#include "host/process/spawn.h"
#include "host/signals.h"
#include "zk/path.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class ParseError;
}

namespace zklock::command {

// How main reports the end. If the command line is wrong, only the options before the error count.
struct ExitPolicy {
  bool quiet = false;                      // no message if the status is 75
  int busy_status = 75;                    // replaces the status 75
  std::optional<int> failure_status = {};  // replaces every status of zklock's own

  // Returns the status that a shell sees if zklock ends by `failure`.
  int status_of(const Failure& failure) const {
    if (failure.signal() != 0) return 128 + failure.signal();
    const bool busy = failure.status() == ExitStatus::busy;
    return failure_status.value_or(busy ? busy_status : static_cast<int>(failure.status()));
  }
};

// The words behind the program's name, cut at their first "--" before CLI11 sees them. The words after that are the
// command, byte for byte.
struct Arguments {
  std::vector<std::string> options;  // before the first "--"
  std::vector<std::string> command;  // after it
  bool separated = false;            // there was a "--"

  static Arguments cut(const std::vector<std::string>& words);
};

// What a subcommand is called with.
struct Call {
  const CLI::App& app;          // the subcommand, for its name and its operands
  const Arguments& arguments;   // as they were typed
  const GlobalOptions& global;  // from before and after the subcommand
  const host::Inherited& inherited;
  ExitPolicy& policy;
};

// Runs a subcommand and returns the exit status. Owns the values of its options. Throws a Failure to end zklock with a
// message and a status of its own, or by a signal.
using Execute = std::function<int(const Call& call)>;

// Returns an Execute that calls `execute` with the options.
template <typename Options>
Execute execute_with(int (*execute)(const Call&, const Options&), std::shared_ptr<Options> options) {
  return [execute, options = std::move(options)](const Call& call) { return execute(call, *options); };
}

// Adds the options, usage and footer of a subcommand to `app`. The values of its global options go into `global`, which
// must outlive the parsing. Returns null if only the subcommands below it do something.
using AddOptions = Execute (*)(CLI::App& app, GlobalOptions& global);

// Returns the Failure (64) for an option or argument that `app` does not know; it names the nearest known one.
Failure unknown_word(const CLI::App& app, const std::string& word);

// Returns the Failure (64) for a surplus word, which may be the beginning of a command.
Failure unexpected_word(const std::string& word, const Arguments& arguments);

// Returns the words before the "--" that are no options of `app`. Unknown options are among them.
std::vector<std::string> words_of(const CLI::App& app);

// Returns the operands of `app`, before and after the "--"; "-" is one. Throws a Failure (64) for an unknown option.
std::vector<std::string> operands_of(const CLI::App& app, const Arguments& arguments);

// The one path that a subcommand is about: how messages name it, and the check for it.
struct PathOperand {
  const char* kind;     // "group"
  const char* example;  // "/groups/web"
  void (*check)(std::string_view path) = zk::check_path;
};

// Returns the first of `words`. Throws a Failure (64) if there is none or it is bad.
std::string first_path(const std::vector<std::string>& words, const Call& call, const PathOperand& operand);
// Returns the Failure (64) for a second path.
Failure second_path(const std::string& word, const PathOperand& operand);
// Returns the only path. Throws a Failure (64) for no path, a bad one or a second one.
std::string path_of(const Call& call, const PathOperand& operand);

// Returns the only path before a "--" with a command. Throws a Failure (64) for no path, a bad one, a second one, or a
// "--" without a command.
std::string path_before_command(const Call& call, const PathOperand& operand);
// Returns the command after the "--"; nothing without a "--". Throws a Failure (126, 127) if it is not found.
std::optional<host::Program> program_of(const Call& call);

// One thing that a subcommand does, and the session in which it does it. The caller opens and closes the session.
struct Task {
  // `what`: what is tried, for messages: "cannot get /v".
  Task(zk::SessionOptions options, std::string what) : tried(std::move(what)), session(loop, std::move(options)) {
    session.set_purpose(tried);
  }

  std::string tried;
  host::Loop loop;
  zk::Session session;
};

// Returns the Failure (64) for what CLI11 complains about, in one line.
Failure usage_error_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace zklock::command
