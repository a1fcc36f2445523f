// SPDX-License-Identifier: Apache-2.0
#include "command/value/value.h"

namespace zklock::command {

Execute add_value_set(CLI::App& app, GlobalOptions& global) {
  set_usage(app, "Usage: zklock value set [OPTIONS] PATH");
  add_global_options(app, global);
  set_footer(app, "Manual: zklock-value(1)");
  return [](const Call&) -> int { throw usage_error("not made yet"); };
}

}  // namespace zklock::command
