// SPDX-License-Identifier: Apache-2.0
#include "command/group/join.h"

#include "base/text.h"
#include "command/child/note.h"
#include "recipe/group/layout.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: the command's; 64 usage, 65 path used for something else, 69 no\n"
    "server, 75 name taken, 76 member removed, 77 refused, 126/127 no such command.\n\n"
    "Examples:\n"
    "  zklock group join --name web1 --data 10.0.0.7:80 /groups/web -- httpd -X\n"
    "  zklock group join --unique -w 1m --data-file weight /groups/web\n"
    "Manual: zklock-group(1)";

}  // namespace

GroupJoin::GroupJoin(CLI::App& group)
    : app_(add_command(group, "join", "Be a member while a command runs, or until a signal")) {
  set_usage(*app_, "Usage: zklock group join [OPTIONS] GROUP [-- COMMAND [ARG...]]");
  add_value(*app_, "--name", name_, "Under this name (the host's); a number is added", "NAME");
  add_flag(*app_, "--unique", unique_, "Exactly that name: 75 if somebody has it");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long for it, connecting included", "DUR");
  add_value(*app_, "--data", data_, "What others can read about this member", "TEXT");
  add_value(*app_, "--data-file", data_file_, "The same from a file, again after HUP", "FILE");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int GroupJoin::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited& inherited,
                       ExitPolicy&) const {
  JoinOptions options = join_options(arguments);
  return Joining(session_options(global), std::move(options), inherited).run();
}

JoinOptions GroupJoin::join_options(const Arguments& arguments) const {
  const std::string path = group_before_command(*app_, arguments);
  const std::string name = name_.value_or(host_name());
  if (const auto error = recipe::member_name_error(path, name)) {
    throw usage_error(fmt::format("bad name '{}' for --name: {}", printable(name), *error));
  }
  const MemberData data(data_, data_file_);
  JoinOptions options{{path, name, unique_, data.bytes()}, data};
  if (timeout_) {
    const Duration span = duration_of(*timeout_, "--timeout");
    options.waits = span > Duration::zero();
    // -w 0 leaves the time to connect and to look.
    if (options.waits) options.until = deadline_in(span);
  }
  if (arguments.separated) options.program = host::Program::find(arguments.command);
  return options;
}

}  // namespace zklock::command
