// SPDX-License-Identifier: Apache-2.0
// How a subcommand describes itself to the parser, and the global options, which may stand before or after it on the
// command line. There is no configuration file. Servers, timeouts, credentials and TLS can also be set by environment
// variables.
#pragma once

#include "base/failure.h"
#include "zk/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

  // Options that are given in `nearer` replace these.
  void merge(const GlobalOptions& nearer);
};

// --- describing a subcommand to the parser. Functions do that, so that their callers need not include CLI11, which
// takes seconds to compile.

std::string name_of(const CLI::App& app);

// Adds an option without a value.
void add_flag(CLI::App& app, const char* names, bool& given, const char* help);

// Placeholders for values that completions know.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kPath = "PATH";

// Adds an option with one value. If it is given again, the last one counts.
CLI::Option* add_value(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder);

// The values of an option that takes one of a few. The first is the default.
using Choices = std::span<const char* const>;

// Adds an option whose value is one of `choices`.
CLI::Option* add_choice(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder,
                        Choices choices);

// Gives a global option another help text, which the subcommand's --help then shows too.
void describe(CLI::App& app, const char* option, const char* help);

// Sets the usage lines of a subcommand's --help, and the layout of every --help. It fits a screen. The global options,
// which the root's help explains, are only named, in a line that begins with "zklock -h:".
void set_usage(CLI::App& app, const std::string& usage);

// Sets what a subcommand's --help has besides the options: `footer` is the examples, which come first, an empty line,
// and what comes last, exit statuses and the manual page.
void set_footer(CLI::App& app, const std::string& footer);

// Returns all subcommands, a line each, by purpose, which is their CLI11 group. Subcommands in the group "" are not
// shown.
std::string overview(const CLI::App& root);

// Returns what -V prints: zklock's version alone on the first line, then the libraries', then how this program was
// built. It does not depend on the builder, the place or the time, so builds stay reproducible.
std::string version_text();

// Returns the place to report a bug, and what output to send; it follows the words "report it ".
std::string where_to_report();

// --- global options

// The CLI11 groups of the global options.
inline constexpr const char* kGlobalOptions = "Global options";
inline constexpr const char* kRootOptions = "Global options that the root's help alone names";

void add_global_options(CLI::App& app, GlobalOptions& options);

// Ends the description of a subcommand that has a session: adds the global options, and sets usage and footer.
void finish(CLI::App& app, GlobalOptions& global, const std::string& usage, const std::string& footer);

// Adds only the global options that mean something without a session.
void add_server_options(CLI::App& app, GlobalOptions& options);

// Adds --tls and what belongs to it. add_global_options() and add_server_options() call it.
void add_tls_options(CLI::App& app, GlobalOptions& options);

// Returns whether TLS is asked for. Any of its options or variables does that, but with ZKLOCK_TLS=0 the variables do
// not count. Throws a Failure (64) that names the bad one.
bool asks_for_tls(const GlobalOptions& options);

// Returns the TLS settings for `servers`, whose files it reads; null if they are used without TLS. Throws a Failure
// (64) that names the bad option or file.
std::shared_ptr<const host::Tls> tls_of(const GlobalOptions& options, const zk::ServerList& servers);

// Returns variables for a command, so that a zklock in it uses this connection.
std::vector<std::string> connection_variables(const zk::SessionOptions& session);

// Returns the servers from the option, the variable or the default. Throws a Failure (64) that names the bad one.
zk::ServerList server_list(const GlobalOptions& options);

inline constexpr Duration kLongestSessionTimeout = std::chrono::hours(24);

// Returns the options for a session, checked and complete, with variables and defaults. Reads files. Throws a Failure
// (64) that names the bad option, variable or file.
zk::SessionOptions session_options(const GlobalOptions& options);

// --- values

// Returns `text` as a duration. Throws a Failure (64) that names `origin`, an option or a variable.
Duration duration_of(const std::string& text, const std::string& origin);

// Returns `text`, the value of --interval, as a duration. Throws a Failure (64), also if it is below 100 ms.
Duration interval_of(const std::string& text);

// Returns `text` as a whole number from `least` to `most`. Throws a Failure (64) that names the `option` and the
// bounds.
int64_t number_of(const std::string& text, const char* option, int64_t least, int64_t most = INT64_MAX);

// Returns "text, json or prometheus".
std::string choices_text(Choices choices);

// Returns the index of `value` among `choices`, 0 without a value. Throws a Failure (64) that names the `option` and
// the choices.
size_t choice_of(const Value& value, const char* option, Choices choices);

Failure usage_error(const std::string& text);

}  // namespace zklock::command
