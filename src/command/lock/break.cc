// SPDX-License-Identifier: Apache-2.0
// zklock break: finds the holders of a lock, asks whether they are meant, and has them let go. Later holders are left
// alone.
#include "base/text.h"
#include "command/child/console.h"
#include "command/child/note.h"
#include "command/cli/output.h"
#include "command/lock/locks.h"
#include "host/terminal.h"
#include "recipe/lock/revocation.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using recipe::Nodes;
using recipe::Participant;

constexpr const char* kUsualTimeout = "30s";
constexpr size_t kLongestList = 300;

constexpr const char* kBreakFooter =
    "Examples:\n"
    "  zklock break /locks/nightly                # shows the holders and asks first\n"
    "  zklock break --yes --force /locks/nightly  # in a script; by force if need be\n\n"
    "Exit status: 0 they let go, or nobody held it; 1 you said no; 64 usage, 65 the\n"
    "path is a queue, 69 no server, 75 not in time, or no such lock, 77 refused.\n"
    "Manual: zklock-show(1)";

struct BreakOptions {
  Value timeout;  // for all of it, connecting included, but not a person's answer; 0: does not wait
  bool force = false;
  bool yes = false;
  bool dry_run = false;
};

class BreakJob {
 public:
  BreakJob(const Call& call, const BreakOptions& options)
      : path_(path_of(call, {"lock", "/locks/job"})),
        timeout_(duration_of(options.timeout.value_or(kUsualTimeout), "--timeout")),
        options_(options),
        task_(session_options(call.global), "cannot break " + path_) {
    if (!options.yes && !options.dry_run) check_can_ask();
  }

  // Returns 0 once the holders found at the start no longer hold the lock, or with --dry-run once they are shown.
  // Otherwise throws a Failure: 1 for a person's no, 65 for a queue or a foreign node, 75 if there is no such lock or a
  // holder has not let go in time, 77, and what the session throws.
  int run() {
    const bool waits = timeout_ > Duration::zero();
    within_.emplace(session_, waits ? deadline_in(timeout_) : kNever);
    session_.open();
    Nodes nodes = find_holders();
    if (holders_.empty()) console_.detail(path_ + " is free");
    if (options_.dry_run) return show_holders();
    if (!(holders_.empty() && leftovers_.empty()) && !options_.yes) confirm();
    const std::optional<Failure> refused = remove_leftovers();
    nodes = recipe::ask_to_let_go(session_, nodes);
    if (!nodes.empty()) console_.detail(fmt::format("asked {} to let go", describe(nodes)));
    nodes = recipe::wait_until_gone(session_, nodes, waits ? session_.until() : BootClock::now());
    if (options_.force) {
      within_.reset();
      for (const std::string& node : recipe::take_away(session_, nodes)) {
        host::say_error(fmt::format("took {} away from {}, which may still be running", path_, describe({node})));
      }
    } else if (!nodes.empty()) {
      check_servers();
      session_.close();
      throw Failure(ExitStatus::busy, fmt::format("{}: {} {} not let go in time; --force takes the lock away",
                                                  task_.tried, describe(nodes), nodes.size() == 1 ? "has" : "have"));
    }
    session_.close();
    if (refused) throw *refused;
    return 0;
  }

 private:
  // Throws a Failure (69) if no server can be reached.
  void check_servers() {
    try {
      session_.ready();
    } catch (const zk::SessionOver&) {
    }
  }

  int show_holders() {
    session_.close();
    const std::vector<Participant> all = all_to_go();
    if (!all.empty()) print(table_of_holders(all, host::display_of(STDOUT_FILENO).columns));
    return 0;
  }

  std::vector<Participant> all_to_go() const {
    std::vector<Participant> all = holders_;
    all.insert(all.end(), leftovers_.begin(), leftovers_.end());
    return all;
  }

  // No process is left that could let go of them. Returns the Failure (65, 77) for one that cannot be removed, which
  // does not keep the holders from being asked.
  std::optional<Failure> remove_leftovers() {
    Nodes nodes;
    for (const Participant& leftover : leftovers_) nodes.push_back(leftover.node);
    try {
      nodes = recipe::take_away(session_, nodes);
    } catch (const Failure& failure) {
      if (failure.status() != ExitStatus::bad_data && failure.status() != ExitStatus::refused) throw;
      return failure;
    }
    if (nodes.empty()) return std::nullopt;
    host::say_error(fmt::format("removed from {} {} {} in no session", path_, nodes.size(),
                                nodes.size() == 1 ? "node that was" : "nodes that were"));
    return std::nullopt;
  }

  Nodes find_holders() {
    const recipe::Survey survey = recipe::survey_paths(session_, {path_}).front();
    recipe::check_is_lock(survey.use, task_.tried);
    if (survey.absent) {
      session_.close();
      throw Failure(ExitStatus::busy, task_.tried + ": there is no such lock");
    }
    holders_ = survey.holders();
    leftovers_ = survey.leftovers;
    if (!survey.foreign.empty() && holders_.empty() && leftovers_.empty()) {
      throw Failure(ExitStatus::bad_data, recipe::foreign_text(task_.tried, survey.foreign.front().node));
    }
    Nodes nodes;
    for (const Participant& holder : holders_) nodes.push_back(holder.node);
    return nodes;
  }

  // Closes the session first, because no session lasts as long as a person may think. Names of nodes are not used
  // twice, so only the nodes that were shown will be affected.
  void confirm() {
    const Duration left = left_until(session_.until());
    session_.close();
    const std::string table = table_of_holders(all_to_go(), host::display_of(STDERR_FILENO).columns);
    command::confirm(fmt::format("{}zklock: {}?", table, question()), path_);
    within_.emplace(session_, deadline_in(left));
    session_.open();
  }

  std::string question() const {
    const std::string leftovers =
        fmt::format("remove {} in no session from {}", leftovers_.size() == 1 ? "this node" : "these nodes", path_);
    if (holders_.empty()) return leftovers;
    const char* whom = holders_.size() == 1 ? "this holder" : "these holders";
    const std::string holders = fmt::format("have {} let go of {}", whom, path_);
    return leftovers_.empty() ? holders : fmt::format("{}, and remove what is in no session", holders);
  }

  std::string describe(const Nodes& nodes) const {
    std::string text;
    for (const std::string& node : nodes) {
      const auto holder = std::ranges::find(holders_, node, &Participant::node);
      text += (text.empty() ? "" : ", ") + describe_note(holder->data);
    }
    return shorten(text, kLongestList);
  }

  std::string path_;
  Duration timeout_;
  BreakOptions options_;
  Task task_;
  zk::Session& session_{task_.session};
  Console console_{session_};
  std::optional<zk::Within> within_;
  std::vector<Participant> holders_;
  std::vector<Participant> leftovers_;
};

}  // namespace

Execute add_break(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<BreakOptions>();
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR for them to let go (30s)", "DUR");
  add_flag(app, "--force", options->force, "Then take the lock away; they may still run");
  add_flag(app, "--dry-run", options->dry_run, "Show who would be asked, and change nothing");
  add_flag(app, "--yes", options->yes, "Do not ask for confirmation");
  finish(app, global, "Usage: zklock break [OPTIONS] LOCK", kBreakFooter);
  return [options](const Call& call) { return BreakJob(call, *options).run(); };
}

}  // namespace zklock::command
