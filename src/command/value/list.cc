// SPDX-License-Identifier: Apache-2.0
// zklock value list: prints the nodes below a path: names, a table, or JSON lines with the values.
#include "base/text.h"
#include "base/time.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/cli/table.h"
#include "command/value/value.h"
#include "recipe/value/subtree.h"
#include "zk/path.h"

#include <algorithm>
#include <memory>

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

// What gives way on a narrow terminal.
const Table::Yielding kYielding{{"CHILDREN", "VERSION", "BYTES", "CHANGED"}, {"NAME"}};

constexpr size_t kAtOnce = 100;  // values that are read and printed together

struct ValueListOptions {
  bool long_form = false;
  bool recursive = false;
  bool nul = false;
  FormatOptions format;
};

class ValueListing {
 public:
  ValueListing(const Call& call, const ValueListOptions& options)
      : options_(options),
        json_(is_json(options.format)),
        path_(path_of(call, kPathToRead)),
        tried_("cannot list " + path_),
        session_(loop_, session_options(call.global)) {
    if (options.long_form + options.nul + json_ > 1) throw usage_error("give one of --long, -0 and --json");
    session_.set_purpose(tried_);
  }

  void run() {
    session_.open();
    const std::vector<std::string> paths = find();
    if (json_) {
      print_values(paths);
      return session_.close();
    }
    const std::string text = options_.long_form ? table_of(paths) : names_of(paths);
    session_.close();
    print(text);
  }

 private:
  // Returns the paths to print. With -r, JSON has PATH itself too.
  std::vector<std::string> find() {
    std::vector<std::string> paths = options_.recursive ? recipe::list_subtree(session_, path_, tried_) : children();
    if (options_.recursive) {
      if (paths.empty()) throw no_such_node(tried_);
      if (!json_) paths.erase(paths.begin());
    }
    // /zookeeper belongs to the server; no value is written there.
    if (path_ == "/") std::erase_if(paths, [](const auto& path) { return zk::path_error(path).has_value(); });
    return paths;
  }

  std::vector<std::string> children() {
    zk::Answer list = session_.synced_children(path_);
    if (list.code == zk::Code::no_node) throw no_such_node(tried_);
    if (list.code != zk::Code::ok) throw zk::failure_of(tried_, list);
    std::ranges::sort(list.names);
    for (std::string& name : list.names) name = zk::child_of(path_, name);
    return std::move(list.names);
  }

  std::string name_of(const std::string& path) const { return path.substr(path_ == "/" ? 1 : path_.size() + 1); }

  std::string names_of(const std::vector<std::string>& paths) const {
    std::string text;
    for (const std::string& path : paths) {
      text += options_.nul ? name_of(path) : printable(name_of(path));
      text += options_.nul ? '\0' : '\n';
    }
    return text;
  }

  // Nodes that are deleted meanwhile are left out, here and in print_values().
  std::string table_of(const std::vector<std::string>& paths) {
    Table table({"NAME", "VERSION", "BYTES", "CHILDREN", "CHANGED"});
    const std::vector<zk::Answer> stats = zk::stat_all(session_, paths);
    bool empty = true;
    for (size_t i = 0; i < paths.size(); ++i) {
      check(stats[i], paths[i]);
      if (stats[i].code != zk::Code::ok) continue;
      const zk::Stat& stat = stats[i].stat;
      table.add({name_of(paths[i]), fmt::to_string(stat.version), fmt::to_string(stat.data_length),
                 fmt::to_string(stat.children), format_utc(stat.modified_ms)});
      empty = false;
    }
    if (const auto columns = host::display_of(STDOUT_FILENO).columns) table.fit(*columns, kYielding);
    return empty ? "" : table.text();
  }

  void print_values(const std::vector<std::string>& paths) {
    for (size_t from = 0; from < paths.size(); from += kAtOnce) {
      const std::vector<std::string> some(
          paths.begin() + static_cast<ptrdiff_t>(from),
          paths.begin() + static_cast<ptrdiff_t>(std::min(paths.size(), from + kAtOnce)));
      const std::vector<zk::Answer> values = zk::read_all(session_, some);
      std::string text;
      for (size_t i = 0; i < some.size(); ++i) {
        check(values[i], some[i]);
        if (values[i].code == zk::Code::ok) text += json_of(some[i], {true, values[i].data, values[i].stat});
      }
      print(loop_, text);
    }
  }

  void check(const zk::Answer& answer, const std::string& path) const {
    if (answer.code == zk::Code::ok || answer.code == zk::Code::no_node) return;
    throw zk::failure_of(fmt::format("{}: cannot read {}", tried_, printable(path)), answer);
  }

  const ValueListOptions& options_;
  bool json_;
  std::string path_;
  std::string tried_;
  host::Loop loop_;
  zk::Session session_;
};

}  // namespace

Execute add_value_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueListOptions>();
  set_usage(app, "Usage: zklock value list [OPTIONS] PATH");
  add_flag(app, "-l,--long", options->long_form, "Also version, size, children, time of change");
  add_flag(app, "-r,--recursive", options->recursive, "List all nodes below PATH");
  add_flag(app, "-0,--null", options->nul, "Print names as they are, each ended by NUL");
  add_format_options(app, options->format, "One JSON object per line, with the value");
  add_global_options(app, global);
  set_footer(app, kListFooter);
  return [options](const Call& call) {
    ValueListing(call, *options).run();
    return 0;
  };
}

}  // namespace zklock::command
