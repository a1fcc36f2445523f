// SPDX-License-Identifier: Apache-2.0
// What a subcommand tells the parser of itself, and the options that every one has. Those may stand before or behind
// the subcommand on the command line; each has an environment variable instead of a configuration file.
#pragma once

#include "base/failure.h"
#include "zk/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  bool tls = false;
  Value tls_ca;
  Value tls_cert;
  Value tls_key;
  Value tls_server_name;
  bool verbose = false;
  bool quiet = false;
  bool no_color = false;

  // Those that stand in `nearer` replace these.
  void merge(const GlobalOptions& nearer);
};

// --- to the parser, through these because a file that includes CLI11 takes seconds to compile

std::string name_of(const CLI::App& app);

// An option without a value.
void add_flag(CLI::App& app, const char* names, bool& given, const char* help);

// An option with one value; given again, the last one wins.
CLI::Option* add_value(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder);

// Another help text for a global option, which is then explained in the subcommand's --help too.
void describe(CLI::App& app, const char* option, const char* help);

// The usage lines of its --help, which gets the look that all have: it fits a screen, and the global options, which the
// root's explains, are only named, in a line that begins with "zklock -h:".
void set_usage(CLI::App& app, const std::string& usage);

// The examples, which come first in its --help, an empty line, and what comes last: exit statuses and its page.
void set_footer(CLI::App& app, const std::string& footer);

// All subcommands by purpose, which is the CLI11 group that they are in, a line each. Those in the group "" are not
// shown.
std::string overview(const CLI::App& root);

// What -V prints: zklock's version alone on the first line, then the C client's, then how this program was built.
// Nothing in it depends on who built the program, where or when: builds stay reproducible.
std::string version_text();

// Where whoever finds a mistake reports it, and what with, for behind "report it ".
std::string where_to_report();

// --- global options

// The CLI11 groups that they are in.
inline constexpr const char* kGlobalOptions = "Global options";
inline constexpr const char* kRootOptions = "Global options that the root's help alone names";

void add_global_options(CLI::App& app, GlobalOptions& options);

// Those of them that mean something without a session.
void add_server_options(CLI::App& app, GlobalOptions& options);

// --tls and what belongs to it; both of the above have them.
void add_tls_options(CLI::App& app, GlobalOptions& options);

// Whether options or variables do: any of them does, but for ZKLOCK_TLS=0, which takes no account of the other
// variables. Throws a Failure (64) that names the culprit.
bool asks_for_tls(const GlobalOptions& options);

// Null where `servers` are spoken to in the clear. Reads the files; throws a Failure (64) that names the culprit.
std::shared_ptr<const host::Tls> tls_of(const GlobalOptions& options, const zk::ServerList& servers);

// For a command: what tells a zklock that it runs of this connection.
std::vector<std::string> connection_variables(const zk::SessionOptions& session);

// From the option, the variable or the default. Throws a Failure (64) that names the culprit.
zk::ServerList server_list(const GlobalOptions& options);

inline constexpr Duration kLongestSessionTimeout = std::chrono::hours(24);

// Checked and complete, with variables and defaults. Throws a Failure (64) that names the culprit.
zk::SessionOptions session_options(const GlobalOptions& options);

// --- values

// `text` as a duration. Throws a Failure (64) that names `origin`, an option or a variable.
Duration duration_of(const std::string& text, const std::string& origin);

// `text` as a whole number from `least` to `most`. Throws a Failure (64) that names the `option` and the bounds.
int64_t number_of(const std::string& text, const char* option, int64_t least, int64_t most = INT64_MAX);

Failure usage_error(const std::string& text);

}  // namespace zklock::command
