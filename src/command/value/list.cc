// SPDX-License-Identifier: Apache-2.0
// zklock value list: prints the nodes below a path: names, a table, or JSON lines with the values.
#include "base/text.h"
#include "base/time.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/cli/record.h"
#include "command/value/value.h"
#include "recipe/value/subtree.h"
#include "zk/path.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kListFooter =
    "Examples:\n"
    "  zklock value list /app\n"
    "  zklock value list -r --json /app >app.jsonl    # a backup\n\n"
    "Exit status: 0; 1 there is no such node; 64 usage, 69 no server,\n"
    "74 output failed, 77 refused.\n"
    "Manual: zklock-value(1)";

using ListedNode = std::pair<std::string, zk::Stat>;  // the name, below PATH

constexpr Field<ListedNode> kColumnsOfNodes[] = {
    {"NAME", "", [](const ListedNode& node) { return FieldValue(node.first); }, 0, true, true},
    {"VERSION", "", [](const ListedNode& node) { return FieldValue(node.second.version); }, 2},
    {"BYTES", "", [](const ListedNode& node) { return FieldValue(node.second.data_length); }, 3},
    {"CHILDREN", "", [](const ListedNode& node) { return FieldValue(node.second.children); }, 1},
    {"CHANGED", "", [](const ListedNode& node) { return FieldValue(format_utc(node.second.modified_ms)); }, 4},
};

constexpr size_t kAtOnce = 100;  // values that are read and printed together

struct ValueListOptions {
  bool long_form = false;
  bool recursive = false;
  bool nul = false;
  FormatOptions format;
};

std::vector<std::string> children(Task& task, const std::string& path) {
  zk::Answer list = task.session.synced_children(path);
  if (list.code == zk::Code::no_node) throw no_such_node(task.tried);
  if (list.code != zk::Code::ok) throw zk::failure_of(task.tried, list);
  std::ranges::sort(list.names);
  return zk::paths_below(path, list.names);
}

// Returns the paths to print. With -r, JSON has PATH itself too.
std::vector<std::string> find(Task& task, const std::string& path, bool recursive, bool json) {
  std::vector<std::string> paths =
      recursive ? recipe::list_subtree(task.session, path, task.tried) : children(task, path);
  if (recursive && paths.empty()) throw no_such_node(task.tried);
  if (recursive && !json) paths.erase(paths.begin());
  // /zookeeper belongs to the server; no value is written there.
  if (path == "/") std::erase_if(paths, [](const auto& found) { return zk::path_error(found).has_value(); });
  return paths;
}

std::string name_below(const std::string& top, const std::string& path) {
  return path.substr(top == "/" ? 1 : top.size() + 1);
}

// Returns whether the node was there. The lists leave out nodes that were deleted meanwhile.
bool was_read(const Task& task, const zk::Answer& answer, const std::string& path) {
  if (answer.code == zk::Code::ok || answer.code == zk::Code::no_node) return answer.code == zk::Code::ok;
  throw zk::failure_of(fmt::format("{}: cannot read {}", task.tried, printable(path)), answer);
}

std::string table_of(Task& task, const std::string& top, const std::vector<std::string>& paths) {
  const std::vector<zk::Answer> stats = zk::stat_all(task.session, paths);
  std::vector<ListedNode> nodes;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (was_read(task, stats[i], paths[i])) nodes.emplace_back(name_below(top, paths[i]), stats[i].stat);
  }
  return fitted_table(std::span<const Field<ListedNode>>(kColumnsOfNodes), nodes,
                      host::display_of(STDOUT_FILENO).columns);
}

void print_values(Task& task, std::span<const std::string> paths) {
  while (!paths.empty()) {
    const auto next = paths.first(std::min(paths.size(), kAtOnce));
    const std::vector<std::string> some(next.begin(), next.end());
    const std::vector<zk::Answer> values = zk::read_all(task.session, some);
    std::string text;
    for (size_t i = 0; i < some.size(); ++i) {
      if (was_read(task, values[i], some[i])) text += json_of(some[i], values[i]);
    }
    print(task.loop, text);
    paths = paths.subspan(some.size());
  }
}

int list(const Call& call, const ValueListOptions& options) {
  const bool json = is_json(options.format);
  const std::string path = path_of(call, kPathToRead);
  Task task(session_options(call.global), "cannot list " + path);
  if (options.long_form + options.nul + json > 1) throw usage_error("give one of --long, -0 and --json");
  task.session.open();
  const std::vector<std::string> paths = find(task, path, options.recursive, json);
  std::string text;
  if (json) {
    print_values(task, paths);
  } else if (options.long_form) {
    text = table_of(task, path, paths);
  } else {
    for (const std::string& found : paths) text += name_line(name_below(path, found), options.nul);
  }
  task.session.close();
  print(text);
  return 0;
}

}  // namespace

Execute add_value_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueListOptions>();
  add_flag(app, "-l,--long", options->long_form, "Also version, size, children, time of change");
  add_flag(app, "-r,--recursive", options->recursive, "List all nodes below PATH");
  add_flag(app, "-0,--null", options->nul, "Print names as they are, each ended by NUL");
  add_format_options(app, options->format, "One JSON object per line, with the value");
  finish(app, global, "Usage: zklock value list [OPTIONS] PATH", kListFooter);
  return execute_with(list, options);
}

}  // namespace zklock::command
