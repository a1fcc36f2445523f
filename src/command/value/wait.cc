// SPDX-License-Identifier: Apache-2.0
// zklock value wait: waits until a node exists, is gone, has a certain value or a newer version.
#include "command/cli/waiting.h"
#include "command/value/value.h"
#include "recipe/watched_node.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using recipe::Aspect;
using recipe::WatchedNode;

constexpr const char* kWaitFooter =
    "Examples:\n"
    "  zklock value wait -w 5m /app/ready && next-step\n"
    "  zklock value wait --newer-than 7 /app/config\n\n"
    "Without an option: until the node exists.\n\n"
    "Exit status: 0; 64 usage, 69 no server, 75 not in time, 77 refused.\n"
    "Manual: zklock-value(1)";

struct ValueWaitOptions {
  Value timeout;
  bool gone = false;
  Value equals;
  Value newer_than;
};

// Returns why the node, as it was looked at last, is not as wanted; nothing if it is. `version`: that of --newer-than.
// `first`: the czxid of the node that was seen first. A node that was deleted and created again counts as newer,
// whatever its version.
std::optional<std::string> objection(const WatchedNode& node, const ValueWaitOptions& options,
                                     std::optional<int32_t> version, std::optional<int64_t>& first) {
  if (!node.exists()) return options.gone ? std::nullopt : std::optional("there is no such node");
  const zk::Stat& stat = node.found().stat;
  if (options.gone) return fmt::format("it is there, with version {}", stat.version);
  if (options.equals) {
    if (node.found().data == *options.equals) return std::nullopt;
    return fmt::format("it has another value, with version {}", stat.version);
  }
  if (!version) return std::nullopt;
  if (!first) first = stat.created;
  if (stat.version > *version || stat.created != *first) return std::nullopt;
  return fmt::format("it has version {}, none newer than {}", stat.version, *version);
}

int wait(const Call& call, const ValueWaitOptions& options) {
  const std::string path = path_of(call, kPathToRead);
  if (options.gone + options.equals.has_value() + options.newer_than.has_value() > 1) {
    throw usage_error("give one of --gone, --equals TEXT and --newer-than N");
  }
  std::optional<int32_t> version;
  if (options.newer_than) version = version_of(*options.newer_than, "--newer-than");
  const WaitSpan span(options.timeout);
  Task task(session_options(call.global), "cannot wait for " + path);
  WatchedNode node(task.session, path, options.equals ? Aspect::data : Aspect::stat, task.tried);
  std::optional<int64_t> first;
  std::optional<std::string> why;
  const auto look = [&] {
    node.look();
    why = objection(node, options, version, first);
    return !why;
  };
  const auto due = [&] { return std::min(node.due(), span.latest(node.again(), task.session)); };
  const bool met = wait_until_met(task.session, span, look, due);
  task.session.close();
  if (met) return 0;
  throw Failure(ExitStatus::busy, fmt::format("{} any longer: {}", task.tried, *why));
}

}  // namespace

Execute add_value_wait(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueWaitOptions>();
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR, connecting included, then 75", "DUR");
  add_flag(app, "--gone", options->gone, "Until the node is gone");
  add_value(app, "--equals", options->equals, "Until its value is TEXT", "TEXT");
  add_value(app, "--newer-than", options->newer_than, "Until its version is above N, or it was replaced", "N");
  finish(app, global, "Usage: zklock value wait [OPTIONS] PATH", kWaitFooter);
  return execute_with(wait, options);
}

}  // namespace zklock::command
