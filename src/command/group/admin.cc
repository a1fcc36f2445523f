// SPDX-License-Identifier: Apache-2.0
// zklock group list, wait, create and delete: each reads or changes one group, in a session of its own.
#include "base/text.h"
#include "command/cli/output.h"
#include "command/cli/waiting.h"
#include "command/group/group.h"
#include "host/terminal.h"
#include "recipe/group/group.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using recipe::GroupRemoval;
using recipe::GroupRoster;
using recipe::RemovalEnd;

constexpr size_t kLongestList = 300;

constexpr const char* kListFooter =
    "Examples:\n"
    "  zklock group list -l /groups/web\n"
    "  zklock group list -q --at-least 2 /groups/web || page-somebody\n\n"
    "Exit status: 0; 1 fewer than --at-least says; 64 usage, 65 the path is used for\n"
    "something else, 69 no server, 74 output failed, 75 no such group, 77 refused.\n"
    "Manual: zklock-group(1)";

constexpr const char* kWaitFooter =
    "Examples:\n"
    "  zklock group wait --at-least 3 -w 5m /groups/web && next-step\n"
    "  zklock group wait --at-most 0 /groups/old\n\n"
    "Exit status: 0; 64 usage, 65 the path is used for something else, 69 no server,\n"
    "75 not in time, 77 refused.\n"
    "Manual: zklock-group(1)";

constexpr const char* kCreateFooter =
    "Examples:\n"
    "  zklock group create /groups/web\n"
    "  zklock group create /jobs && zklock group wait --at-least 3 /jobs\n\n"
    "Exit status: 0 it is there; 64 usage, 65 the path is used for something else,\n"
    "69 no server, 75 its members made it, and it goes with them, 77 refused.\n"
    "Manual: zklock-group(1)";

constexpr const char* kDeleteFooter =
    "Examples:\n"
    "  zklock group delete /groups/web\n"
    "  zklock group delete --force /groups/old    # its members too\n\n"
    "Exit status: 0 it is gone; 64 usage, 65 the path is used for something else,\n"
    "69 no server, 75 there are members or there is no such group, 77 refused.\n"
    "Manual: zklock-group(1)";

Failure no_such_group(const std::string& tried) {
  return {ExitStatus::busy, tried + ": there is no such group"};
}

// Returns the number; nothing if the option was not given. Throws a Failure (64) that names `option` for a bad number.
std::optional<size_t> member_count(const Value& value, const char* option) {
  if (!value) return std::nullopt;
  return static_cast<size_t>(number_of(*value, option, 0));
}

struct GroupListOptions {
  Value at_least;
  bool long_form = false;
  FormatOptions format;
};

// Reports nodes that members have left and that are in no session, as after a backup was restored.
void say_left(const std::string& path, const std::set<std::string>& names) {
  host::remark(fmt::format("zklock: nodes in {} that are no members, because they are in no session: {}\n", path,
                           shorten(printable(fmt::format("{}", fmt::join(names, ", "))), kLongestList)));
}

// Prometheus gets 0 for a group that does not exist: a group that `group create` did not make goes with its last
// member.
int list(const Call& call, const GroupListOptions& options) {
  const std::string path = path_of(call, kGroupPath);
  const bool quiet = call.global.quiet;
  const Format format = format_of(options.format, kTextJsonOrPrometheus);
  check_long(options.long_form, format);
  const size_t enough = member_count(options.at_least, "--at-least").value_or(quiet ? 1 : 0);
  Task task(session_options(call.global), "cannot list " + path);
  task.session.open();
  GroupRoster roster(task.session, path, (options.long_form || format == Format::json) && !quiet, task.tried);
  zk::read_and_end(task.session, [&](bool last) { roster.look(last); });
  task.session.close();
  if (!roster.exists() && format != Format::prometheus) throw no_such_group(task.tried);
  const recipe::Members& members = roster.members();
  if (!quiet && options.long_form) print(table_of(path, members, host::display_of(STDOUT_FILENO).columns));
  if (!quiet && !options.long_form) print(text_of(path, members, format));
  if (!quiet && !roster.left().empty()) say_left(path, roster.left());
  if (members.size() >= enough) return 0;
  if (quiet) return static_cast<int>(ExitStatus::no);
  throw Failure(ExitStatus::no,
                fmt::format("{} in {}, fewer than {}", counted(members.size(), "member"), path, enough));
}

struct GroupWaitOptions {
  Value at_least;
  Value at_most;
  Value timeout;
};

int wait(const Call& call, const GroupWaitOptions& options) {
  const std::string path = path_of(call, kGroupPath);
  const auto least = member_count(options.at_least, "--at-least");
  const auto most = member_count(options.at_most, "--at-most");
  if (least.has_value() == most.has_value()) throw usage_error("give either --at-least N or --at-most N");
  const WaitSpan span(options.timeout);
  Task task(session_options(call.global), "cannot wait for " + path);
  GroupRoster roster(task.session, path, false, task.tried);
  size_t members = 0;
  const auto look = [&] {
    roster.look();
    members = roster.members().size();
    // Members that joined after the list was read are not in it, so --at-most is met only if nothing has changed since.
    return least ? members >= *least : members <= *most && roster.due() == kNever;
  };
  const bool met = wait_until_met(task.session, span, look, [&] {
    const Deadline due = roster.due();
    return due != kNever ? due : span.latest(roster.again(), task.session);
  });
  task.session.close();
  if (met) return 0;
  throw Failure(ExitStatus::busy, fmt::format("{} any longer: {}, not at {} {}", task.tried, counted(members, "member"),
                                              least ? "least" : "most", least ? *least : *most));
}

int create(const Call& call) {
  const std::string path = path_of(call, kGroupPath);
  Task task(session_options(call.global), "cannot create " + path);
  zk::in_sessions(task.session, [&] { recipe::make_kept_group(task.session, path, task.tried); });
  task.session.close();
  return 0;
}

Failure not_empty(const GroupRemoval& removal, const std::string& tried, bool forced) {
  if (removal.others > 0) {
    return {ExitStatus::bad_data,
            fmt::format("{}: there {} below it that {} no member ('{}'); delete what is below first", tried,
                        removal.others == 1 ? "is a node" : fmt::format("are {} nodes", removal.others),
                        removal.others == 1 ? "is" : "are", printable(removal.other))};
  }
  if (removal.members == 0 && !forced) {
    return {ExitStatus::busy,
            fmt::format("{}: members have left {} in it, in no session; --force removes what they left", tried,
                        counted(removal.left, "node"))};
  }
  return {ExitStatus::busy, fmt::format("{}: {} in it{}", tried, counted(removal.members, "member"),
                                        forced ? ", and others keep coming" : "; --force removes them")};
}

int remove(const Call& call, bool force) {
  const std::string path = path_of(call, kGroupPath);
  Task task(session_options(call.global), "cannot delete " + path);
  task.session.open();
  const GroupRemoval removal = recipe::remove_group(task.session, path, force, task.tried);
  task.session.close();
  if (removal.end == RemovalEnd::absent) throw no_such_group(task.tried);
  if (removal.end == RemovalEnd::not_empty) throw not_empty(removal, task.tried, force);
  return 0;
}

}  // namespace

Execute add_group_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<GroupListOptions>();
  add_flag(app, "-l,--long", options->long_form, "Also since when, the session and the data");
  add_format_options(app, options->format, "One JSON object per line and member", kTextJsonOrPrometheus);
  add_value(app, "--at-least", options->at_least, "Exit 1 if there are fewer than N", "N");
  finish(app, global, "Usage: zklock group list [OPTIONS] GROUP", kListFooter);
  describe(app, "--quiet", "Print nothing; exit 0 if enough are in, else 1");
  return execute_with(list, options);
}

Execute add_group_wait(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<GroupWaitOptions>();
  add_value(app, "--at-least", options->at_least, "Until there are N members or more", "N");
  add_value(app, "--at-most", options->at_most, "Until there are N members or fewer", "N");
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR, connecting included, then 75", "DUR");
  finish(app, global,
         "Usage: zklock group wait --at-least N [OPTIONS] GROUP\n"
         "       zklock group wait --at-most N [OPTIONS] GROUP",
         kWaitFooter);
  return execute_with(wait, options);
}

Execute add_group_create(CLI::App& app, GlobalOptions& global) {
  finish(app, global, "Usage: zklock group create [OPTIONS] GROUP", kCreateFooter);
  return create;
}

Execute add_group_delete(CLI::App& app, GlobalOptions& global) {
  const auto force = std::make_shared<bool>(false);
  add_flag(app, "--force", *force, "Remove its members too; they do not come back");
  finish(app, global, "Usage: zklock group delete [OPTIONS] GROUP", kDeleteFooter);
  return [force](const Call& call) { return remove(call, *force); };
}

}  // namespace zklock::command
