// SPDX-License-Identifier: Apache-2.0
#include "command/top/top.h"

#include <memory>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Keys: q quit, s sort, / filter, arrows, enter a closer look\n\n"
    "Examples:\n"
    "  zklock top\n"
    "  zklock top --once /locks | head\n"
    "Manual: zklock-top(1)";

struct TopOptions {
  Value interval;
  bool once = false;
};

int top(const Call& call, const TopOptions&) {
  static_cast<void>(operands_of(call.app, call.arguments));
  throw Failure(ExitStatus::internal, "not yet");
}

}  // namespace

Execute add_top(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<TopOptions>();
  set_usage(app, "Usage: zklock top [OPTIONS] [PATH]");
  add_value(app, "--interval", options->interval, "Look again so often (2s)", "DUR");
  add_flag(app, "--once", options->once, "One look, as text");
  add_global_options(app, global);
  set_footer(app, kFooter);
  return [options](const Call& call) { return top(call, *options); };
}

}  // namespace zklock::command
