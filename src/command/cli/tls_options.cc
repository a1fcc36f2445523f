// SPDX-License-Identifier: Apache-2.0
// --tls and what belongs to it.
#include "base/text.h"
#include "command/cli/options.h"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

struct TlsSetting {
  const char* option;
  const char* variable;
  Value GlobalOptions::*given;
  std::string host::TlsOptions::*value;
  const char* placeholder;
  const char* help;
};

constexpr TlsSetting kSettings[] = {
    {"--tls-ca", "ZKLOCK_TLS_CA", &GlobalOptions::tls_ca, &host::TlsOptions::authorities, "FILE",
     "Authorities that servers' certificates are by"},
    {"--tls-cert", "ZKLOCK_TLS_CERT", &GlobalOptions::tls_cert, &host::TlsOptions::certificate, "FILE",
     "Our certificate for the servers"},
    {"--tls-key", "ZKLOCK_TLS_KEY", &GlobalOptions::tls_key, &host::TlsOptions::key, "FILE",
     "The key that belongs to it"},
    {"--tls-server-name", "ZKLOCK_TLS_SERVER_NAME", &GlobalOptions::tls_server_name, &host::TlsOptions::server_name,
     "NAME", "The name in the servers' certificates"},
};

bool variables_ask() {
  const std::string value = environment("ZKLOCK_TLS");
  if (value == "0" || value == "1") return value == "1";
  if (!value.empty()) throw usage_error(fmt::format("bad value '{}' for ZKLOCK_TLS: write 1 or 0", printable(value)));
  return std::ranges::any_of(kSettings, [](const TlsSetting& one) { return !environment(one.variable).empty(); });
}

}  // namespace

void add_tls_options(CLI::App& app, GlobalOptions& options) {
  app.add_flag("--tls", options.tls, "Speak TLS with the servers (ZKLOCK_TLS=1)")
      ->disable_flag_override()
      ->group(kGlobalOptions);
  for (const TlsSetting& one : kSettings) {
    add_value(app, one.option, options.*one.given, one.help, one.placeholder)->group(kGlobalOptions);
  }
}

bool asks_for_tls(const GlobalOptions& options) {
  bool asked = options.tls;
  for (const TlsSetting& one : kSettings) {
    const Value& given = options.*one.given;
    if (given && given->empty()) {
      throw usage_error(fmt::format("{} names nothing: write a {}", one.option, one.placeholder));
    }
    asked |= given.has_value();
  }
  return variables_ask() || asked;
}

std::shared_ptr<const host::Tls> tls_of(const GlobalOptions& options, const zk::ServerList& servers) {
  if (!servers.tls) return nullptr;
  host::TlsOptions tls;
  for (const TlsSetting& one : kSettings) tls.*one.value = (options.*one.given).value_or(environment(one.variable));
  if (!tls.server_name.empty() && !zk::is_host_name(tls.server_name)) {
    throw usage_error(fmt::format("bad name '{}' for --tls-server-name: write a host's name or address, without a port",
                                  printable(tls.server_name)));
  }
  if (tls.certificate.empty() && !tls.key.empty()) {
    throw usage_error("--tls-key without its certificate: give that with --tls-cert");
  }
  return std::make_shared<const host::Tls>(tls);
}

std::vector<std::string> connection_variables(const zk::SessionOptions& session) {
  std::vector<std::string> variables{"ZKLOCK_SERVERS=" + session.servers.text()};
  if (!session.tls) return variables;
  for (const TlsSetting& one : kSettings) {
    const std::string& value = session.tls->options().*one.value;
    if (value.empty()) continue;
    const bool is_file = one.value != &host::TlsOptions::server_name;
    variables.push_back(
        fmt::format("{}={}", one.variable, is_file ? std::filesystem::absolute(value).string() : value));
  }
  return variables;
}

}  // namespace zklock::command
