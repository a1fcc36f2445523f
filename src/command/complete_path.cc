// SPDX-License-Identifier: Apache-2.0
#include "command/complete_path.h"

#include "base/contains.h"
#include "base/text.h"
#include "command/cli/output.h"
#include "recipe/line.h"
#include "recipe/lock/last_success.h"
#include "recipe/use.h"
#include "zk/path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kSession = 4s;

// Reading a pipe may block for ever, and consumes what is in it.
bool is_pipe(const Value& given, const char* variable) {
  std::error_code error;
  const auto type = std::filesystem::status(given.value_or(environment(variable)), error).type();
  return type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
}

zk::SessionOptions quiet_session(GlobalOptions options) {
  options.verbose = false;
  if (is_pipe(options.auth_file, "ZKLOCK_AUTH_FILE") || is_pipe(options.tls_ca, "ZKLOCK_TLS_CA") ||
      is_pipe(options.tls_cert, "ZKLOCK_TLS_CERT") || is_pipe(options.tls_key, "ZKLOCK_TLS_KEY")) {
    throw usage_error("a completion reads no pipes");
  }
  zk::SessionOptions session = session_options(options);
  session.session_timeout = kSession;
  session.connect_timeout = kCompletionPatience;
  return session;
}

// Returns the children of `folder` that a command about a lock, queue or group can name. Contenders, and nodes inside
// slots, a queue or a group, are left out. If --once-per was used, a lock may have left only its record of the last
// success.
std::vector<std::string> uses_among(const std::string& folder, std::vector<std::string> names, std::string_view mark) {
  if (recipe::mark_of(mark) != recipe::PathMark::none) return {};
  if (folder != "/" && contains(names, "leases") && contains(names, "locks")) {
    std::erase_if(names, [](const std::string& name) { return name == "leases" || name == "locks"; });
  }
  std::erase_if(names, [](const std::string& name) { return recipe::number_in(name).has_value(); });
  for (std::string& name : names) {
    if (name.size() > recipe::kLastSuccess.size() && name.ends_with(recipe::kLastSuccess)) {
      name.resize(name.size() - recipe::kLastSuccess.size());
    }
  }
  return names;
}

std::set<std::string> ask(zk::Session& session, const std::string& folder, bool any_node) {
  session.open();
  const zk::Call list = session.client().children(folder);
  const zk::Call mark = session.client().read(folder);
  session.end_behind();
  const zk::Answer listed = session.await(list);
  const std::string data = session.await(mark).data;
  const auto paths = zk::paths_below(folder, any_node ? listed.names : uses_among(folder, listed.names, data));
  return {paths.begin(), paths.end()};
}

}  // namespace

void offer_paths(const std::string& prefix, const GlobalOptions& options, bool any_node, Deadline until) {
  const std::string parent = zk::parent_of(prefix);
  const std::string folder = parent.empty() ? "/" : parent;
  if (!prefix.starts_with('/') || (folder != "/" && zk::path_error(folder))) return;
  host::Loop loop;
  zk::Session session(loop, quiet_session(options));
  const zk::Within within(session, until);
  try {
    std::string text;
    for (const std::string& path : ask(session, folder, any_node)) {
      if (path.starts_with(prefix) && !zk::path_error(path)) text += path + '\n';
    }
    if (!text.empty()) print("paths\n" + text);
    session.close();
  } catch (const Failure&) {
    // Closing a session on a silent server may take longer than a person who types would wait.
    std::_Exit(0);
  }
}

}  // namespace zklock::command
