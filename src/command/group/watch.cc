// SPDX-License-Identifier: Apache-2.0
#include "command/group/watch.h"

#include "command/group/watching.h"

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "A line for each change: +NAME has joined, -NAME has left; at first who is in.\n\n"
    "Exit status: 64 usage, 65 the path is used for something else, 69 no server at\n"
    "the start, 74 output failed, 77 refused, 126/127 no such command.\n\n"
    "Examples:\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n"
    "  zklock group watch /groups/web -- update-backends   # reads the whole list\n"
    "Manual: zklock-group(1)";

}  // namespace

GroupWatch::GroupWatch(CLI::App& group) : app_(add_command(group, "watch", "Tell who comes and who goes")) {
  set_usage(*app_, "Usage: zklock group watch [OPTIONS] GROUP [-- COMMAND [ARG...]]");
  add_flag(*app_, "--json", json_, "An object a line");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int GroupWatch::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                        ExitPolicy&) const {
  WatchOptions options{group_before_command(*app_, arguments), json_ ? GroupForm::json : GroupForm::names, {}};
  if (arguments.separated) options.program = host::Program::find(arguments.command);
  Watching(session_options(global), std::move(options), inherited).run();
}

}  // namespace zklock::command
