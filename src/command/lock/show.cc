// SPDX-License-Identifier: Apache-2.0
#include "command/lock/show.h"

#include "command/cli/output.h"
#include "command/lock/report.h"
#include "zk/path.h"

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

}  // namespace

Show::Show(CLI::App& root) : app_(add_command(root, "show", "Show who holds a lock and who waits for it")) {
  set_usage(*app_, "Usage: zklock show [OPTIONS] LOCK...");
  add_flag(*app_, "-r,--recursive", recursive_, "All locks in the tree below LOCK, which may be /");
  add_flag(*app_, "--json", json_, "An object on a line of its own for each lock");
  add_global_options(*app_, global_);
  describe(*app_, "--quiet", "Print nothing: 0 if LOCK is held, 1 if it is free");
  set_footer(*app_, kFooter);
}

int Show::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&, Manner&) const {
  const std::vector<recipe::Survey> surveys = look(paths(arguments, global.quiet), global);
  if (global.quiet) {
    return static_cast<int>(surveys.front().holders().empty() ? ExitStatus::no : ExitStatus::done);
  }
  std::string text = json_ ? "" : table_of(surveys, host::display_of(STDOUT_FILENO));
  for (const recipe::Survey& survey : surveys) {
    if (json_) text += json_of(survey);
  }
  print(text);
  return 0;
}

std::vector<std::string> Show::paths(const Arguments& arguments, bool quiet) const {
  std::vector<std::string> paths = operands_of(*app_, arguments);
  if (paths.empty()) throw usage_error("no lock named: write zklock show /locks/job");
  if (quiet && (recursive_ || paths.size() > 1)) {
    throw usage_error("-q is about one lock: write zklock show -q /locks/job");
  }
  for (const std::string& path : paths) {
    if (!recursive_ || path != "/") zk::check_path(path);
  }
  return paths;
}

std::vector<recipe::Survey> Show::look(const std::vector<std::string>& paths, const GlobalOptions& global) const {
  host::Loop loop;
  zk::Session session(loop, session_options(global));
  session.set_purpose(fmt::format("cannot show {}", fmt::join(paths, " ")));
  session.open(kNever);
  const std::vector<recipe::Survey> surveys =
      recursive_ ? recipe::survey_trees(session, paths, kNever) : recipe::survey_paths(session, paths, kNever);
  session.close();
  for (const recipe::Survey& survey : surveys) check_is_lock(survey, fmt::format("cannot show {}", survey.path));
  return surveys;
}

}  // namespace zklock::command
