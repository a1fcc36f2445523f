// SPDX-License-Identifier: Apache-2.0
// The options that every subcommand has. On the command line they may stand before or behind the subcommand; each has
// an environment variable instead of a configuration file.
#pragma once

#include "base/failure.h"
#include "zk/session.h"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace zklock::command {

// As typed; empty: not given.
struct GlobalOptions {
  std::string servers;
  std::string session_timeout;
  std::string connect_timeout;
  std::string auth_file;
  std::string acl;
  bool verbose = false;
  bool quiet = false;

  // Those that stand in `nearer` replace these.
  void merge(const GlobalOptions& nearer);
};

// The usage lines of its --help.
void set_usage(CLI::App& app, const char* usage);

void add_global_options(CLI::App& app, GlobalOptions& options);

// Checked and complete, with variables and defaults. Throws a Failure (64) that names the culprit.
zk::SessionOptions session_options(const GlobalOptions& options);

// An option with one value; given again, the last one wins.
CLI::Option* add_value(CLI::App& app, const char* names, std::string& value, const char* help, const char* placeholder);

// `text` as a duration. Throws a Failure (64) that names `origin`, an option or a variable.
Duration duration_of(const std::string& text, const std::string& origin);

Failure usage_error(const std::string& text);

}  // namespace zklock::command
