// SPDX-License-Identifier: Apache-2.0
#include "command/lock/break.h"

#include "base/text.h"
#include "command/cli/output.h"
#include "command/lock/breaking.h"
#include "zk/path.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kUsualPatience = "30s";

constexpr const char* kFooter =
    "Exit status: 0 they let go, or nobody held it; 1 you said no; 64 usage, 65 the\n"
    "path is a queue, 69 no server, 75 not in time, or no such lock, 77 refused.\n\n"
    "Examples:\n"
    "  zklock break /locks/nightly                # shows whom it hits, and asks\n"
    "  zklock break --yes --force /locks/nightly  # in a script, in the end by force\n"
    "Manual: zklock-show(1)";

}  // namespace

Break::Break(CLI::App& root) : app_(add_command(root, "break", "Have the holders of a lock let go of it")) {
  set_usage(*app_, "Usage: zklock break [OPTIONS] LOCK");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long until they let go (30s)", "DUR");
  add_flag(*app_, "--force", force_, "Then take the lock away; they may still run");
  add_flag(*app_, "--yes", yes_, "Do not ask");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int Break::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&, ExitPolicy&) const {
  BreakingOptions options{path(arguments), duration_of(timeout_.value_or(kUsualPatience), "--timeout"), !yes_, force_};
  zk::SessionOptions session = session_options(global);
  if (options.confirm) check_can_ask();
  Breaking(std::move(session), std::move(options)).run();
  return 0;
}

std::string Break::path(const Arguments& arguments) const {
  const std::vector<std::string> paths = operands_of(*app_, arguments);
  if (paths.empty()) throw usage_error("no lock named: write zklock break /locks/job");
  if (paths.size() > 1)
    throw usage_error(fmt::format("unexpected argument '{}': one lock at a time", printable(paths[1])));
  zk::check_path(paths.front());
  return paths.front();
}

}  // namespace zklock::command
