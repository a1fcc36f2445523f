// SPDX-License-Identifier: Apache-2.0
// zklock group list, wait, create and delete: each reads or changes one group, in a session of its own.
#include "base/text.h"
#include "command/cli/format.h"
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

// One group, and the session in which it is read or changed.
struct OneGroup {
  // `what`: what is tried, "cannot list".
  OneGroup(const Call& call, const std::string& group, const char* what)
      : path(group), tried(fmt::format("{} {}", what, group)), session(loop, session_options(call.global)) {
    session.set_purpose(tried);
  }

  std::string path;
  std::string tried;  // for messages
  host::Loop loop;
  zk::Session session;
};

Failure no_such_group(const OneGroup& group) {
  return {ExitStatus::busy, group.tried + ": there is no such group"};
}

// Returns the number; nothing if the option was not given. Throws a Failure (64) that names `option` for a bad number.
std::optional<size_t> member_count(const Value& value, const char* option) {
  if (!value) return std::nullopt;
  return static_cast<size_t>(number_of(*value, option, 0));
}

std::string members_are(size_t count) {
  return counted(static_cast<int64_t>(count), "member");
}

struct GroupListOptions {
  Value at_least;
  bool long_form = false;
  FormatOptions format;
};

GroupForm form_of(bool long_form, Format format) {
  if (format == Format::prometheus) return GroupForm::prometheus;
  if (format == Format::json) return GroupForm::json;
  return long_form ? GroupForm::table : GroupForm::names;
}

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
  const GroupForm form = form_of(options.long_form, format);
  OneGroup group(call, path, "cannot list");
  group.session.open();
  const bool with_data = form == GroupForm::json || form == GroupForm::table;
  GroupRoster roster(group.session, path, with_data && !quiet);
  recipe::check_is_group(group.session, path, group.tried);
  roster.look();
  group.session.close();
  if (!roster.exists() && form != GroupForm::prometheus) throw no_such_group(group);
  const size_t members = roster.members().size();
  if (!quiet) print(text_of(path, roster.members(), form, host::display_of(STDOUT_FILENO).columns));
  if (!quiet && !roster.left().empty()) say_left(path, roster.left());
  if (members >= enough) return 0;
  if (quiet) return static_cast<int>(ExitStatus::no);
  throw Failure(ExitStatus::no, fmt::format("{} in {}, fewer than {}", members_are(members), path, enough));
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
  OneGroup group(call, path, "cannot wait for");
  GroupRoster roster(group.session, path, false);
  bool checked = false;
  size_t members = 0;
  const auto look = [&] {
    if (!checked) recipe::check_is_group(group.session, path, group.tried);
    checked = true;
    roster.look();
    members = roster.members().size();
    // Members that joined after the list was read are not in it, so --at-most is met only if nothing has changed since.
    return least ? members >= *least : members <= *most && roster.due() == kNever;
  };
  const bool met = wait_until_met(group.session, span, look, [&] {
    const Deadline due = roster.due();
    return due != kNever ? due : span.latest(roster.again(), group.session);
  });
  group.session.close();
  if (met) return 0;
  throw Failure(ExitStatus::busy, fmt::format("{} any longer: {}, not at {} {}", group.tried, members_are(members),
                                              least ? "least" : "most", least ? *least : *most));
}

int create(const Call& call) {
  OneGroup group(call, path_of(call, kGroupPath), "cannot create");
  zk::in_sessions(group.session, [&] { recipe::make_kept_group(group.session, group.path, group.tried); });
  group.session.close();
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
                        counted(static_cast<int64_t>(removal.left), "node"))};
  }
  return {ExitStatus::busy, fmt::format("{}: {} in it{}", tried, members_are(removal.members),
                                        forced ? ", and others keep coming" : "; --force removes them")};
}

int remove(const Call& call, bool force) {
  OneGroup group(call, path_of(call, kGroupPath), "cannot delete");
  group.session.open();
  const GroupRemoval removal = recipe::remove_group(group.session, group.path, force, group.tried);
  group.session.close();
  if (removal.end == RemovalEnd::absent) throw no_such_group(group);
  if (removal.end == RemovalEnd::not_empty) throw not_empty(removal, group.tried, force);
  return 0;
}

}  // namespace

Execute add_group_list(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<GroupListOptions>();
  set_usage(app, "Usage: zklock group list [OPTIONS] GROUP");
  add_flag(app, "-l,--long", options->long_form, "Also since when, the session and the data");
  add_format_options(app, options->format, "One JSON object per line and member", kTextJsonOrPrometheus);
  add_value(app, "--at-least", options->at_least, "Exit 1 if there are fewer than N", "N");
  add_global_options(app, global);
  describe(app, "--quiet", "Print nothing; exit 0 if enough are in, else 1");
  set_footer(app, kListFooter);
  return execute_with(list, options);
}

Execute add_group_wait(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<GroupWaitOptions>();
  set_usage(app,
            "Usage: zklock group wait --at-least N [OPTIONS] GROUP\n"
            "       zklock group wait --at-most N [OPTIONS] GROUP");
  add_value(app, "--at-least", options->at_least, "Until there are N members or more", "N");
  add_value(app, "--at-most", options->at_most, "Until there are N members or fewer", "N");
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR, connecting included, then 75", "DUR");
  add_global_options(app, global);
  set_footer(app, kWaitFooter);
  return execute_with(wait, options);
}

Execute add_group_create(CLI::App& app, GlobalOptions& global) {
  set_usage(app, "Usage: zklock group create [OPTIONS] GROUP");
  add_global_options(app, global);
  set_footer(app, kCreateFooter);
  return create;
}

Execute add_group_delete(CLI::App& app, GlobalOptions& global) {
  const auto force = std::make_shared<bool>(false);
  set_usage(app, "Usage: zklock group delete [OPTIONS] GROUP");
  add_flag(app, "--force", *force, "Remove its members too; they do not come back");
  add_global_options(app, global);
  set_footer(app, kDeleteFooter);
  return [force](const Call& call) { return remove(call, *force); };
}

}  // namespace zklock::command
