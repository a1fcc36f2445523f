// SPDX-License-Identifier: Apache-2.0
#include "command/group/list.h"

#include "command/cli/output.h"
#include "command/group/report.h"
#include "recipe/group/node.h"
#include "recipe/group/roster.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 1 fewer than --at-least says; 64 usage, 65 the path is used for\n"
    "something else, 69 no server, 74 output failed, 75 no such group, 77 refused.\n\n"
    "Examples:\n"
    "  zklock group list -l /groups/web\n"
    "  zklock group list -q --at-least 2 /groups/web || page-somebody\n"
    "Manual: zklock-group(1)";

}  // namespace

GroupList::GroupList(CLI::App& group) : app_(add_command(group, "list", "Show who is in a group")) {
  set_usage(*app_, "Usage: zklock group list [OPTIONS] GROUP");
  add_flag(*app_, "-l,--long", long_, "Since when, by which session, with which data");
  add_flag(*app_, "--json", json_, "An object on a line of its own for each member");
  add_value(*app_, "--at-least", at_least_, "1 if there are fewer than N", "N");
  add_global_options(*app_, global_);
  describe(*app_, "--quiet", "Print nothing: 0 if there are enough (1), else 1");
  set_footer(*app_, kFooter);
}

int GroupList::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                       ExitPolicy&) const {
  using recipe::GroupRoster;
  using recipe::GroupState;
  const std::string path = group_path(*app_, arguments);
  if (long_ && json_) throw usage_error("give either --long or --json, not both");
  const size_t enough = member_count(at_least_, "--at-least").value_or(global.quiet ? 1 : 0);
  const GroupForm form = json_ ? GroupForm::json : long_ ? GroupForm::table : GroupForm::names;
  host::Loop loop;
  zk::Session session(loop, session_options(global));
  const std::string tried = "cannot list " + path;
  session.set_purpose(tried);
  session.open(kNever);
  GroupRoster roster(session, path, form != GroupForm::names && !global.quiet);
  const bool absent = recipe::look_at_group(session, path, tried, kNever) == GroupState::absent ||
                      roster.look(kNever) == GroupRoster::State::absent;
  if (session.expired()) throw zk::expired(tried);
  session.close();
  if (absent) throw Failure(ExitStatus::busy, tried + ": there is no such group");
  const size_t members = roster.members().size();
  if (!global.quiet) print(text_of(path, roster.members(), form));
  if (members >= enough) return 0;
  if (global.quiet) return static_cast<int>(ExitStatus::no);
  throw Failure(ExitStatus::no, fmt::format("{} in {}, fewer than {}", members_are(members), path, enough));
}

}  // namespace zklock::command
