// SPDX-License-Identifier: Apache-2.0
// zklock value get: prints the bytes as they are, or the --default if there is no such node.
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/value/value.h"

#include <memory>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kGetFooter =
    "Examples:\n"
    "  zklock value get /app/config >config.json\n"
    "  limit=$(zklock value get --default 10 /app/limit)\n\n"
    "Exit status: 0; 1 there is no such node; 64 usage, 69 no server,\n"
    "74 output failed, 77 refused.\n"
    "Manual: zklock-value(1)";

struct ValueGetOptions {
  FormatOptions format;
  Value fallback;
};

int get(const Call& call, const ValueGetOptions& options) {
  const std::string path = path_of(call, kPathToRead);
  const bool json = is_json(options.format);
  Task task(session_options(call.global), "cannot get " + path);
  task.session.open();
  const zk::Answer node = zk::read_and_end(task.session, [&](bool last) {
    if (last) task.session.set_last();
    return task.session.synced_read(path);
  });
  const bool exists = node.code == zk::Code::ok;
  if (!exists && node.code != zk::Code::no_node) throw zk::failure_of(task.tried, node);
  task.session.close();
  if (!exists && options.fallback) {
    print(*options.fallback);
    return 0;
  }
  if (json) print(json_of(path, node));
  if (!exists) throw no_such_node(task.tried);
  if (!json) print(node.data);
  return 0;
}

}  // namespace

Execute add_value_get(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueGetOptions>();
  add_format_options(app, options->format, "One JSON object, with the version");
  add_value(app, "--default", options->fallback, "Print TEXT, exit 0 if there is no such node", "TEXT");
  finish(app, global, "Usage: zklock value get [OPTIONS] PATH", kGetFooter);
  return execute_with(get, options);
}

}  // namespace zklock::command
