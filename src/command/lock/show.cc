// SPDX-License-Identifier: Apache-2.0
#include "command/cli/output.h"
#include "command/lock/locks.h"
#include "command/lock/report.h"
#include "recipe/lock/survey.h"
#include "zk/path.h"

#include <memory>
#include <unistd.h>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0, with -q 1 if the lock is free; 64 usage, 65 the path is a\n"
    "queue, 69 no server, 74 output failed, 77 refused.\n\n"
    "Examples:\n"
    "  zklock show /locks/nightly\n"
    "  zklock show -r --json / | jq -r 'select(.state == \"held\").path'\n"
    "Manual: zklock-show(1)";

struct ShowOptions {
  bool recursive = false;
  bool json = false;
};

std::vector<std::string> paths_of(const Call& call, const ShowOptions& options) {
  std::vector<std::string> paths = operands_of(call.app, call.arguments);
  if (paths.empty()) throw usage_error("no lock named: write zklock show /locks/job");
  if (call.global.quiet && (options.recursive || paths.size() > 1)) {
    throw usage_error("-q is about one lock: write zklock show -q /locks/job");
  }
  for (const std::string& path : paths) {
    if (!options.recursive || path != "/") zk::check_path(path);
  }
  return paths;
}

std::vector<recipe::Survey> look(const Call& call, const ShowOptions& options) {
  const std::vector<std::string> paths = paths_of(call, options);
  host::Loop loop;
  zk::Session session(loop, session_options(call.global));
  session.set_purpose(fmt::format("cannot show {}", fmt::join(paths, " ")));
  session.open(kNever);
  const std::vector<recipe::Survey> surveys =
      options.recursive ? recipe::survey_trees(session, paths, kNever) : recipe::survey_paths(session, paths, kNever);
  session.close();
  for (const recipe::Survey& survey : surveys) check_is_lock(survey, fmt::format("cannot show {}", survey.path));
  return surveys;
}

int show(const Call& call, const ShowOptions& options) {
  const std::vector<recipe::Survey> surveys = look(call, options);
  if (call.global.quiet) {
    return static_cast<int>(surveys.front().holders().empty() ? ExitStatus::no : ExitStatus::done);
  }
  std::string text = options.json ? "" : table_of(surveys, host::display_of(STDOUT_FILENO));
  for (const recipe::Survey& survey : surveys) {
    if (options.json) text += json_of(survey);
  }
  print(text);
  return 0;
}

}  // namespace

Execute add_show(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<ShowOptions>();
  set_usage(app, "Usage: zklock show [OPTIONS] LOCK...");
  add_flag(app, "-r,--recursive", options->recursive, "All locks in the tree below LOCK, which may be /");
  add_flag(app, "--json", options->json, "An object on a line of its own for each lock");
  add_global_options(app, global);
  describe(app, "--quiet", "Print nothing: 0 if LOCK is held, 1 if it is free");
  set_footer(app, kFooter);
  return [options](const Call& call) { return show(call, *options); };
}

}  // namespace zklock::command
