// SPDX-License-Identifier: Apache-2.0
// The options of zklock group join.
#include "base/text.h"
#include "base/time.h"
#include "command/child/note.h"
#include "command/group/group.h"
#include "command/group/join_job.h"
#include "recipe/group/group.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kJoinFooter =
    "Examples:\n"
    "  zklock group join --name web1 --data 10.0.0.7:80 /groups/web -- httpd -X\n"
    "  zklock group join --unique -w 1m --data-file weight /groups/web\n\n"
    "Exit status: the command's; 64 usage, 65 path used for something else, 69 no\n"
    "server, 75 name taken, 76 member removed, 77 refused, 126/127 no such command.\n"
    "Manual: zklock-group(1)";

struct JoinOptions {
  Value name;
  Value data;
  Value data_file;
  Value timeout;
  bool unique = false;
};

JoinPlan plan_of(const Call& call, const JoinOptions& options) {
  const std::string path = path_before_command(call, kGroupPath);
  const std::string name = options.name.value_or(host_name());
  if (const auto error = recipe::member_name_error(path, name)) {
    throw usage_error(options.name ? fmt::format("bad name '{}' for --name: {}", printable(name), *error)
                                   : fmt::format("cannot join as '{}', the name of this host: {}; give another with "
                                                 "--name",
                                                 printable(name), *error));
  }
  MemberData data(options.data, options.data_file);
  JoinPlan plan{{path, name, options.unique, data.bytes()}, std::move(data)};
  if (options.timeout) {
    const Duration span = duration_of(*options.timeout, "--timeout");
    plan.waits = span > Duration::zero();
    // -w 0 does not limit the time to connect and to look once.
    if (plan.waits) plan.until = deadline_in(span);
  }
  plan.program = program_of(call);
  return plan;
}

}  // namespace

Execute add_group_join(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<JoinOptions>();
  set_usage(app, "Usage: zklock group join [OPTIONS] GROUP [-- COMMAND [ARG...]]");
  add_value(app, "--name", options->name, "Member name (default: host); a number is added", "NAME");
  add_flag(app, "--unique", options->unique, "Exactly that name; exit 75 if it is taken");
  add_value(app, "-w,--timeout", options->timeout, "Wait at most DUR for it, connecting included", "DUR");
  add_value(app, "--data", options->data, "Text that others can read about this member", "TEXT");
  add_value(app, "--data-file", options->data_file, "Read that text from FILE, again on SIGHUP", kFile);
  add_global_options(app, global);
  set_footer(app, kJoinFooter);
  return [options](const Call& call) { return join_group(call, plan_of(call, *options)); };
}

}  // namespace zklock::command
