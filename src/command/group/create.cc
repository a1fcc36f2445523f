// SPDX-License-Identifier: Apache-2.0
#include "command/group/create.h"

#include "recipe/group/node.h"

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 it is there; 64 usage, 65 the path is used for something else,\n"
    "69 no server, 75 members have made it, and it goes with them, 77 refused.\n\n"
    "Examples:\n"
    "  zklock group create /groups/web\n"
    "  zklock group create /jobs && zklock group wait --at-least 3 /jobs\n"
    "Manual: zklock-group(1)";

}  // namespace

GroupCreate::GroupCreate(CLI::App& group)
    : app_(add_command(group, "create", "Make a group that stays when nobody is in it")) {
  set_usage(*app_, "Usage: zklock group create [OPTIONS] GROUP");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int GroupCreate::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                         ExitPolicy&) const {
  const std::string path = group_path(*app_, arguments);
  const std::string tried = "cannot create " + path;
  host::Loop loop;
  zk::Session session(loop, session_options(global));
  session.set_purpose(tried);
  session.open(kNever);
  while (recipe::make_kept_group(session, path, tried, kNever) == recipe::GroupState::expired) session.open(kNever);
  session.close();
  return 0;
}

}  // namespace zklock::command
