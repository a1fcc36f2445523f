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

class WatchedValue : public WatchSubject {
 public:
  WatchedValue(zk::Session& session, const std::string& path, const ValueWatchOptions& options)
      : path_(path),
        options_(options),
        told_as_json_(is_json(options.format)),
        node_(session, path, options.list ? Aspect::children : Aspect::data, "cannot watch " + path) {}

  void look() override { node_.look(); }
  Deadline due() const override { return std::min(node_.due(), node_.again()); }
  bool has_news() const override { return !told_ || *told_ != state(); }

  // With -0, a missing node is an empty record, and an empty record follows the last name.
  std::string tell() override {
    told_ = state();
    return options_.nul ? plain() + '\0' : json();
  }

  // All variables are set, also to nothing, so that those of an outer watch do not remain.
  host::Launch tell_command() override {
    told_ = state();
    const bool has_version = node_.exists() && !options_.list;
    return {{"ZKLOCK_VALUE_PATH=" + path_,
             "ZKLOCK_VALUE_VERSION=" + (has_version ? fmt::to_string(node_.found().stat.version) : ""),
             fmt::format("ZKLOCK_VALUE_EXISTS={}", node_.exists() ? 1 : 0)},
            {},
            told_as_json_ ? json() : plain()};
  }

 private:
  // A state differs from another one if a field does. Writing the same bytes counts as a change. The time matters if
  // servers have lost their data: they then give out the same czxids and versions again.
  struct State {
    bool exists;
    std::vector<std::string> names;  // sorted; the fields below do not matter with --list
    int64_t created;
    int32_t version;
    int64_t modified_ms;

    bool operator==(const State&) const = default;
  };

  State state() const {
    if (!node_.exists()) return {false, {}, 0, 0, 0};
    const zk::Stat& stat = node_.found().stat;
    if (!options_.list) return {true, {}, stat.created, stat.version, stat.modified_ms};
    State state{true, node_.found().names, 0, 0, 0};
    std::ranges::sort(state.names);
    return state;
  }

  // Returns what a command reads, unless it wants JSON.
  std::string plain() const {
    if (!options_.list) return node_.found().data;
    std::string text;
    for (const std::string& name : told_->names) text += name_line(name, options_.nul);
    return text;
  }

  std::string json() const {
    if (!options_.list) return json_of(path_, node_.found());
    nlohmann::ordered_json json;
    json["path"] = path_;
    json["exists"] = told_->exists;
    json["names"] = told_->names;
    return json_line(json);
  }

  std::string path_;
  const ValueWatchOptions& options_;
  bool told_as_json_;  // to a command; a reader without -0 always gets JSON
  WatchedNode node_;
  std::optional<State> told_;
};

int watch(const Call& call, const ValueWatchOptions& options) {
  const std::string path = path_before_command(call, kPathToRead);
  if (options.nul && is_json(options.format)) throw usage_error("give either -0 or --json, not both");
  if (options.nul && !options.list && call.arguments.separated) {
    throw usage_error("leave out -0: a command reads the value as it is");
  }
  WatchJob job(call, path, options.halt);
  WatchedValue value(job.session(), path, options);
  return job.run(value);
}

}  // namespace

Execute add_value_watch(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueWatchOptions>();
  add_format_options(app, options->format, "Give the command a JSON object, too");
  add_flag(app, "--list", options->list, "Watch the names of the children, not the value");
  add_flag(app, "-0,--null", options->nul, "Plain values, or --list names, ended by NUL");
  add_flag(app, "--halt", options->halt, "If the command fails, exit with its status");
  finish(app, global, "Usage: zklock value watch [OPTIONS] PATH [-- COMMAND [ARG...]]", kWatchFooter);
  return execute_with(watch, options);
}

}  // namespace zklock::command
