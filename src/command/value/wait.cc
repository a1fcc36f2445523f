// SPDX-License-Identifier: Apache-2.0
// zklock value wait: waits until a node exists, is gone, has a certain value or a newer version.
#include "command/cli/waiting.h"
#include "command/value/value.h"
#include "recipe/watched_node.h"

#include <algorithm>
#include <memory>
#include <utility>

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

// The condition that is waited for.
class Latch {
 public:
  explicit Latch(const ValueWaitOptions& options) : gone_(options.gone), equals_(options.equals) {
    if (gone_ + equals_.has_value() + options.newer_than.has_value() > 1) {
      throw usage_error("give one of --gone, --equals TEXT and --newer-than N");
    }
    if (options.newer_than) version_ = version_of(*options.newer_than, "--newer-than");
  }

  Aspect aspect() const { return equals_ ? Aspect::data : Aspect::stat; }

  // Returns whether the condition is met. Call it after each look: a node that was deleted and created again counts as
  // newer, whatever its version.
  bool is_open(const WatchedNode& node) {
    if (gone_ || !node.exists()) return gone_ && !node.exists();
    const zk::Stat& stat = node.found().stat;
    if (equals_) return node.found().data == *equals_;
    if (!version_) return true;
    if (!first_) first_ = stat.created;
    return stat.version > *version_ || stat.created != *first_;
  }

  // Returns why the condition is not met.
  std::string reason(const WatchedNode& node) const {
    if (!node.exists()) return "there is no such node";
    const int32_t version = node.found().stat.version;
    if (gone_) return fmt::format("it is there, with version {}", version);
    if (equals_) return fmt::format("it has another value, with version {}", version);
    return fmt::format("it has version {}, none newer than {}", version, version_.value_or(0));
  }

 private:
  bool gone_;
  Value equals_;
  std::optional<int32_t> version_;
  std::optional<int64_t> first_;  // the czxid of the node that was seen first
};

int wait(const Call& call, const ValueWaitOptions& options) {
  const std::string path = path_of(call, kPathToRead);
  const std::string tried = "cannot wait for " + path;
  Latch latch(options);
  const WaitSpan span(options.timeout);
  host::Loop loop;
  zk::Session session(loop, session_options(call.global));
  session.set_purpose(tried);
  WatchedNode node(session, path, latch.aspect(), tried);
  const auto look = [&] {
    node.look();
    return latch.is_open(node);
  };
  const bool open =
      wait_until_met(session, span, look, [&] { return std::min(node.due(), span.latest(node.again(), session)); });
  session.close();
  if (open) return 0;
  throw Failure(ExitStatus::busy, fmt::format("{} any longer: {}", tried, latch.reason(node)));
}

}  // namespace

Execute add_value_wait(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ValueWaitOptions>();
  set_usage(app, "Usage: zklock value wait [OPTIONS] PATH");
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR, connecting included, then 75", "DUR");
  add_flag(app, "--gone", options->gone, "Until the node is gone");
  add_value(app, "--equals", options->equals, "Until its value is TEXT", "TEXT");
  add_value(app, "--newer-than", options->newer_than, "Until its version is above N, or it was replaced", "N");
  add_global_options(app, global);
  set_footer(app, kWaitFooter);
  return execute_with(wait, options);
}

}  // namespace zklock::command
