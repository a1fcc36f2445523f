// SPDX-License-Identifier: Apache-2.0
// zklock value watch: reports each state of a node, without end: its value, or with --list the names of its children.
// It prints them on standard output, or runs a command for each.
#include "base/text.h"
#include "command/child/watching.h"
#include "command/cli/format.h"
#include "command/cli/output.h"
#include "command/value/value.h"
#include "recipe/watched_node.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zklock::command {

namespace {

using recipe::Aspect;
using recipe::WatchedNode;

constexpr const char* kWatchFooter =
    "Examples:\n"
    "  zklock value watch --halt /app/config -- reload-app   # reads the value\n"
    "  zklock value watch --list /app/features | jq -c .names\n\n"
    "Prints a JSON object for each state, the present one first; or runs COMMAND for\n"
    "each, with the value or the names on standard input.\n\n"
    "Exit status: 64 usage, 69 no server at the start, 74 output failed, 77 refused,\n"
    "126/127 no such command; with --halt the command's.\n"
    "Manual: zklock-value(1)";

struct ValueWatchOptions {
  FormatOptions format;
  bool list = false;
  bool nul = false;
  bool halt = false;
};

// The base of both: the node, and the variables for a command.
class WatchedPath : public WatchSubject {
 public:
  WatchedPath(zk::Session& session, const std::string& path, Aspect aspect, const ValueWatchOptions& options)
      : path_(path),
        options_(options),
        told_as_json_(is_json(options.format)),
        node_(session, path, aspect, "cannot watch " + path) {}

  void look() override { node_.look(); }
  Deadline due() const override { return std::min(node_.due(), node_.again()); }

 protected:
  // Returns the variables, empty ones too, so that those of an outer watch do not remain. `version`: of the value.
  std::vector<std::string> variables(const std::string& version) const {
    return {"ZKLOCK_VALUE_PATH=" + path_, "ZKLOCK_VALUE_VERSION=" + version,
            fmt::format("ZKLOCK_VALUE_EXISTS={}", node_.exists() ? 1 : 0)};
  }

  std::string path_;
  const ValueWatchOptions& options_;
  bool told_as_json_;  // for a command; a reader without -0 always gets JSON
  WatchedNode node_;
};

class WatchedValue : public WatchedPath {
 public:
  WatchedValue(zk::Session& session, const std::string& path, const ValueWatchOptions& options)
      : WatchedPath(session, path, Aspect::data, options) {}

  bool has_news() const override { return !told_ || *told_ != identity(); }

  // With -0, a missing node is an empty record.
  std::string tell() override {
    told_ = identity();
    return options_.nul ? node_.found().data + '\0' : json();
  }

  host::Launch tell_command() override {
    told_ = identity();
    const std::string version = node_.exists() ? fmt::to_string(node_.found().stat.version) : "";
    return {variables(version), {}, told_as_json_ ? json() : node_.found().data};
  }

 private:
  // Writing the same bytes counts as a change. The time matters if servers have lost their data: they then give out the
  // same czxids and versions again.
  struct Identity {
    bool exists;
    int64_t created;
    int32_t version;
    int64_t modified_ms;

    bool operator==(const Identity&) const = default;
  };

  Identity identity() const {
    if (!node_.exists()) return {false, 0, 0, 0};
    const zk::Stat& stat = node_.found().stat;
    return {true, stat.created, stat.version, stat.modified_ms};
  }

  std::string json() const { return json_of(path_, {node_.exists(), node_.found().data, node_.found().stat}); }

  std::optional<Identity> told_;
};

class WatchedNames : public WatchedPath {
 public:
  WatchedNames(zk::Session& session, const std::string& path, const ValueWatchOptions& options)
      : WatchedPath(session, path, Aspect::children, options) {}

  bool has_news() const override { return !told_ || *told_ != state(); }

  // With -0, an empty record follows the last name.
  std::string tell() override {
    told_ = state();
    return options_.nul ? names() + '\0' : json();
  }

  host::Launch tell_command() override {
    told_ = state();
    return {variables(""), {}, told_as_json_ ? json() : names()};
  }

 private:
  struct Names {
    bool exist;
    std::vector<std::string> sorted;

    bool operator==(const Names&) const = default;
  };

  Names state() const {
    Names names{node_.exists(), node_.found().names};
    std::ranges::sort(names.sorted);
    return names;
  }

  std::string names() const {
    std::string text;
    for (const std::string& name : told_->sorted) {
      text += options_.nul ? name : printable(name);
      text += options_.nul ? '\0' : '\n';
    }
    return text;
  }

  std::string json() const {
    nlohmann::ordered_json json;
    json["path"] = path_;
    json["exists"] = told_->exist;
    json["names"] = told_->sorted;
    return json_line(json);
  }

  std::optional<Names> told_;
};

int watch(const Call& call, const ValueWatchOptions& options) {
  const std::string path = path_before_command(call, kPathToRead);
  if (options.nul && is_json(options.format)) throw usage_error("give either -0 or --json, not both");
  if (options.nul && !options.list && call.arguments.separated) {
    throw usage_error("leave out -0: a command reads the value as it is");
  }
  WatchJob job(call, path, options.halt);
  if (options.list) {
    WatchedNames names(job.session(), path, options);
    return job.run(names);
  }
  WatchedValue value(job.session(), path, options);
  return job.run(value);
}

}  // namespace

Execute add_value_watch(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueWatchOptions>();
  set_usage(app, "Usage: zklock value watch [OPTIONS] PATH [-- COMMAND [ARG...]]");
  add_format_options(app, options->format, "Give the command a JSON object, too");
  add_flag(app, "--list", options->list, "Watch the names of the children, not the value");
  add_flag(app, "-0,--null", options->nul, "Plain values, or --list names, ended by NUL");
  add_flag(app, "--halt", options->halt, "If the command fails, exit with its status");
  add_global_options(app, global);
  set_footer(app, kWatchFooter);
  return execute_with(watch, options);
}

}  // namespace zklock::command
