// SPDX-License-Identifier: Apache-2.0
#include "command/cli/options.h"

#include "base/text.h"
#include "host/terminal.h"

#include <algorithm>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

struct Setting {
  std::string value;
  std::string origin;  // for messages
};

// Returns the option, else the variable, else the default.
Setting setting(const Value& option, const char* option_name, const char* variable, const char* fallback) {
  if (option) return {*option, option_name};
  const std::string value = environment(variable);
  if (!value.empty()) return {value, variable};
  return {fallback, zk::ServerList::kDefaultOrigin};
}

Duration timeout(const Setting& setting) {
  const Duration span = duration_of(setting.value, setting.origin);
  // A shorter one leaves the C client no time for its handshake. The server counts in int32 milliseconds.
  if (span >= 100ms && span <= kLongestSessionTimeout) return span;
  throw usage_error(
      fmt::format("bad duration '{}' for {}: write one from 100ms to 24h", setting.value, setting.origin));
}

std::string credentials(const GlobalOptions& options) {
  const Setting file = setting(options.auth_file, "--auth-file", "ZKLOCK_AUTH_FILE", "");
  const std::string secret = environment("ZKLOCK_AUTH");
  if (!options.auth_file && !secret.empty()) return zk::parse_credentials(secret, "ZKLOCK_AUTH");
  if (!options.auth_file && file.value.empty()) return "";
  std::string read = zk::read_credentials(file.value);
  struct stat status {};
  if (stat(file.value.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IROTH)) {
    host::remark(fmt::format("zklock: everybody on this host can read the credentials in '{}': chmod o-r it\n",
                             printable(file.value)));
  }
  return read;
}

constexpr const char* kAcls[] = {"open", "creator", "creator-world-read"};  // in the order of zk::Acl

// `known`: the servers know our identity.
zk::Acl acl(const Value& value, bool known) {
  const auto acl = static_cast<zk::Acl>(choice_of(value, "--acl", kAcls));
  if (acl == zk::Acl::open || known) return acl;
  throw usage_error(fmt::format("--acl {} needs credentials: set ZKLOCK_AUTH, --auth-file or --tls-cert", *value));
}

void add_global_value(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder) {
  add_value(app, names, value, help, placeholder)->group(kGlobalOptions);
}

void add_servers(CLI::App& app, GlobalOptions& options) {
  add_global_value(app, "-S,--servers", options.servers, "[tls://]HOST[:PORT],...[/CHROOT] (ZKLOCK_SERVERS)", "LIST");
}

void add_flags(CLI::App& app, GlobalOptions& options) {
  app.add_flag("-v,--verbose", options.verbose, "Say what happens")->group(kGlobalOptions);
  app.add_flag("-q,--quiet", options.quiet, "No message if the exit status is 75")->group(kGlobalOptions);
  app.add_flag("--no-color", options.no_color, "No colours; NO_COLOR=1 does the same")->group(kRootOptions);
}

}  // namespace

std::string name_of(const CLI::App& app) {
  return app.get_name();
}

void add_flag(CLI::App& app, const char* names, bool& given, const char* help) {
  app.add_flag(names, given, help)->disable_flag_override();
}

void describe(CLI::App& app, const char* option, const char* help) {
  app.get_option(option)->description(help)->group("Options");
}

void set_footer(CLI::App& app, const std::string& footer) {
  app.footer(footer);
}

void GlobalOptions::merge(const GlobalOptions& nearer) {
  using Self = GlobalOptions;
  for (const auto value : {&Self::servers, &Self::session_timeout, &Self::connect_timeout, &Self::auth_file, &Self::acl,
                           &Self::tls_ca, &Self::tls_cert, &Self::tls_key, &Self::tls_server_name}) {
    if (nearer.*value) this->*value = nearer.*value;
  }
  tls |= nearer.tls;
  verbose |= nearer.verbose;
  quiet |= nearer.quiet;
  no_color |= nearer.no_color;
}

CLI::Option* add_value(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder) {
  return app.add_option(names, value, help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->option_text(placeholder)
      ->type_name(placeholder);
}

CLI::Option* add_choice(CLI::App& app, const char* names, Value& value, const char* help, const char* placeholder,
                        Choices choices) {
  return add_value(app, names, value, help, placeholder)->type_name(fmt::format("{}", fmt::join(choices, "|")));
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  add_servers(app, options);
  add_global_value(app, "--session-timeout", options.session_timeout, "Session timeout to ask for (30s)", "DUR");
  add_global_value(app, "--connect-timeout", options.connect_timeout, "Give up after DUR without a server (15s)",
                   "DUR");
  add_global_value(app, "--auth-file", options.auth_file, "Read digest:USER:PASSWORD from FILE", kFile);
  add_choice(app, "--acl", options.acl, "For new znodes: open, creator, creator-world-read", "ACL", kAcls)
      ->group(kGlobalOptions);
  add_tls_options(app, options);
  add_flags(app, options);
}

void finish(CLI::App& app, GlobalOptions& global, const std::string& usage, const std::string& footer) {
  add_global_options(app, global);
  set_usage(app, usage);
  set_footer(app, footer);
}

void add_server_options(CLI::App& app, GlobalOptions& options) {
  add_servers(app, options);
  add_tls_options(app, options);
  add_flags(app, options);
}

zk::ServerList server_list(const GlobalOptions& options) {
  const Setting servers = setting(options.servers, "--servers", "ZKLOCK_SERVERS", "127.0.0.1");
  return zk::ServerList::parse(servers.value, servers.origin, asks_for_tls(options));
}

zk::SessionOptions session_options(const GlobalOptions& options) {
  zk::SessionOptions session;
  session.servers = server_list(options);
  session.session_timeout =
      timeout(setting(options.session_timeout, "--session-timeout", "ZKLOCK_SESSION_TIMEOUT", "30s"));
  session.connect_timeout =
      timeout(setting(options.connect_timeout, "--connect-timeout", "ZKLOCK_CONNECT_TIMEOUT", "15s"));
  session.credentials = credentials(options);
  session.tls = tls_of(options, session.servers);
  const bool has_certificate = session.tls && !session.tls->options().certificate.empty();
  session.acl = acl(options.acl, !session.credentials.empty() || has_certificate);
  session.verbose = options.verbose;
  return session;
}

Duration duration_of(const std::string& text, const std::string& origin) {
  const auto span = parse_duration(text);
  if (span) return *span;
  throw usage_error(
      fmt::format("bad duration '{}' for {}: write one like 500ms, 30, 30s, 5m, 1h30m", printable(text), origin));
}

Duration interval_of(const std::string& text) {
  const Duration span = duration_of(text, "--interval");
  if (span >= 100ms) return span;
  throw usage_error(fmt::format("--interval {} is too short: write one from 100ms on", text));
}

int64_t number_of(const std::string& text, const char* option, int64_t least, int64_t most) {
  const auto number = parse_number(text);
  if (number && *number >= least && *number <= most) return *number;
  const std::string bounds = most == INT64_MAX ? fmt::format("{} on", least) : fmt::format("{} to {}", least, most);
  throw usage_error(fmt::format("bad number '{}' for {}: write one from {}", printable(text), option, bounds));
}

std::string choices_text(Choices choices) {
  const Choices but_last = choices.first(choices.size() - 1);
  return fmt::format("{} or {}", fmt::join(but_last, ", "), choices.back());
}

size_t choice_of(const Value& value, const char* option, Choices choices) {
  if (!value) return 0;
  const auto found = std::ranges::find(choices, *value);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  throw usage_error(fmt::format("bad value '{}' for {}: write {}", printable(*value), option, choices_text(choices)));
}

Failure usage_error(const std::string& text) {
  return {ExitStatus::usage, text};
}

}  // namespace zklock::command
