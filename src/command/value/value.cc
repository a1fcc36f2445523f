// SPDX-License-Identifier: Apache-2.0
#include "command/value/value.h"

#include "base/text.h"
#include "base/time.h"
#include "command/cli/output.h"
#include "zk/path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock value get /app/config >config.json\n"
    "  zklock value watch /app/config -- reload-app    # reads the value\n"
    "  zklock run /locks/deploy -- zklock value set --fenced /app/version 1.2\n"
    "Manual: zklock-value(1)";

}  // namespace

Execute add_value_commands(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock value COMMAND [OPTIONS] PATH ...");
  set_footer(app, kFooter);
  return nullptr;
}

std::string value_path(const Call& call) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  if (words.empty())
    throw usage_error(fmt::format("no node named: write zklock value {} /app/config", name_of(call.app)));
  if (words.size() > 1) {
    throw usage_error(fmt::format("unexpected argument '{}': one node at a time", printable(words[1])));
  }
  zk::check_path(words.front());
  return words.front();
}

std::string json_of(const std::string& path, const recipe::NodeValue& value) {
  Json json;
  json["path"] = path;
  json["exists"] = value.exists;
  if (value.exists) {
    if (is_utf8(value.data)) {
      json["value"] = value.data;
    } else {
      json["value_base64"] = base64(value.data);
    }
    json["version"] = value.stat.version;
    json["changed"] = format_utc(value.stat.modified_ms);
  }
  return json_line(json);
}

}  // namespace zklock::command
