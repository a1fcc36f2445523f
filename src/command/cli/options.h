// SPDX-License-Identifier: Apache-2.0
// The options that every subcommand has. On the command line they may stand before or behind the subcommand; each has
// an environment variable instead of a configuration file.
#pragma once

#include "base/failure.h"
#include "zk/session.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace zklock::command {

using Value = std::optional<std::string>;  // of an option, as typed; nothing: not given

struct GlobalOptions {
  Value servers;
  Value session_timeout;
  Value connect_timeout;
  Value auth_file;
  Value acl;
  bool verbose = false;
  bool quiet = false;

  // Those that stand in `nearer` replace these.
  void merge(const GlobalOptions& nearer);
};

// What a subcommand says of itself to the parser goes through these, because a file that includes CLI11 takes seconds
// to compile.

// Words that are no options are left to the subcommand.
CLI::App* add_command(CLI::App& parent, const char* name, const char* help);

// An option without a value.
void add_flag(CLI::App& app, const char* names, bool& given, const char* help);

// Another help text for a global option, which is then explained in the subcommand's --help too.
void describe(CLI::App& app, const char* option, const char* help);

// The usage lines of its --help.
void set_usage(CLI::App& app, const std::string& usage);

// The last lines of its --help.
void set_footer(CLI::App& app, const std::string& footer);

void add_global_options(CLI::App& app, GlobalOptions& options);

// Those of them that mean something without a session.
void add_server_options(CLI::App& app, GlobalOptions& options);

// From the option, the variable or the default. Throws a Failure (64) that names the culprit.
zk::ServerList server_list(const GlobalOptions& options);

inline constexpr Duration kLongestSessionTimeout = std::chrono::hours(24);

// Checked and complete, with variables and defaults. Throws a Failure (64) that names the culprit.
zk::SessionOptions session_options(const GlobalOptions& options);

// An option with one value; given again, the last one wins.
CLI::Option* add_value(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder);

// `text` as a duration. Throws a Failure (64) that names `origin`, an option or a variable.
Duration duration_of(const std::string& text, const std::string& origin);

// `text` as a whole number from `least` to `most`. Throws a Failure (64) that names the `option` and the bounds.
int64_t number_of(const std::string& text, const char* option, int64_t least, int64_t most = INT64_MAX);

Failure usage_error(const std::string& text);

}  // namespace zklock::command
