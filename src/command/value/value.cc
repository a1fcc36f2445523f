// SPDX-License-Identifier: Apache-2.0
#include "command/value/value.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/output.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kValueFooter =
    "Examples:\n"
    "  zklock value watch /app/config -- reload-app    # reads the value\n"
    "  zklock run /locks/deploy -- zklock value set --fenced /app/version 1.2\n\n"
    "Manual: zklock-value(1)";

}  // namespace

Execute add_value_commands(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock value COMMAND [OPTIONS] PATH ...");
  set_footer(app, kValueFooter);
  return nullptr;
}

int32_t version_of(const std::string& text, const char* option) {
  return static_cast<int32_t>(number_of(text, option, 0, std::numeric_limits<int32_t>::max()));
}

Failure no_such_node(const std::string& tried) {
  return {ExitStatus::no, tried + ": there is no such node"};
}

void check_end(const recipe::ChangeResult& result, const std::string& tried) {
  const std::string now = result.exists ? fmt::format("it has version {}", result.version) : "there is no such node";
  switch (result.end) {
    case recipe::ChangeEnd::done: return;
    case recipe::ChangeEnd::absent: throw no_such_node(tried);
    case recipe::ChangeEnd::differs: throw Failure(ExitStatus::busy, fmt::format("{}: {}", tried, now));
    case recipe::ChangeEnd::has_children:
      throw Failure(ExitStatus::bad_data, fmt::format("{}: there are nodes below it", tried));
    case recipe::ChangeEnd::unheld:
      throw Failure(ExitStatus::lost, fmt::format("{}: the lock is lost (ZKLOCK_NODE)", tried));
    case recipe::ChangeEnd::unknown: break;
  }
  throw Failure(
      ExitStatus::unavailable,
      fmt::format("{}: the connection was lost before the answer, and others may have changed it since; nobody "
                  "can tell whether it was done: now {}",
                  tried, now));
}

std::string name_line(const std::string& name, bool nul) {
  return nul ? name + '\0' : printable(name) + '\n';
}

std::string json_of(const std::string& path, const zk::Answer& node) {
  Json json;
  json["path"] = path;
  json["exists"] = node.code == zk::Code::ok;
  if (node.code == zk::Code::ok) {
    if (is_utf8(node.data)) {
      json["value"] = node.data;
    } else {
      json["value_base64"] = base64(node.data);
    }
    json["version"] = node.stat.version;
    json["changed"] = format_utc(node.stat.modified_ms);
  }
  return json_line(json);
}

}  // namespace zklock::command
