// SPDX-License-Identifier: Apache-2.0
// zklock group watch: reports each member that joins or leaves a group, without end. It prints lines on standard
// output, or runs a command with the whole list for each change.
#include "command/child/watching.h"
#include "command/cli/format.h"
#include "command/group/group.h"

#include <algorithm>
#include <memory>

namespace zklock::command {

namespace {

using recipe::GroupRoster;

constexpr const char* kWatchFooter =
    "Examples:\n"
    "  zklock group watch /groups/web | while read -r change; do log \"$change\"; done\n"
    "  zklock group watch /groups/web -- update-backends   # reads the whole list\n\n"
    "Prints +NAME for who joins and -NAME for who leaves, first for all members.\n\n"
    "Exit status: 64 usage, 65 the path is used for something else, 69 no server at\n"
    "the start, 74 output failed, 77 refused, 126/127 no such command; with --halt\n"
    "the command's.\n"
    "Manual: zklock-group(1)";

struct GroupWatchOptions {
  FormatOptions format;
  bool halt = false;
};

class WatchedGroup : public WatchSubject {
 public:
  // With JSON for a `command`, each look reads all data again, because the whole list must be current. A line on
  // standard output is only about a new member.
  WatchedGroup(zk::Session& session, const std::string& path, bool json, bool command)
      : path_(path), json_(json), forgets_(json && command), roster_(session, path, json, "cannot watch " + path) {}

  void look() override {
    if (forgets_) roster_.forget();
    roster_.look();
  }

  Deadline due() const override { return std::min(roster_.due(), roster_.again()); }

  bool has_news() const override { return !told_ || !recipe::changes_between(*told_, roster_.members()).empty(); }

  std::string tell() override {
    std::string text;
    for (const recipe::MemberChange& change :
         recipe::changes_between(told_.value_or(recipe::Members()), roster_.members())) {
      text += text_of(path_, change, roster_.members(), json_);
    }
    told_ = roster_.members();
    return text;
  }

  host::Launch tell_command() override {
    told_ = roster_.members();
    return {{"ZKLOCK_PATH=" + path_}, {}, text_of(path_, *told_, json_ ? Format::json : Format::text)};
  }

 private:
  std::string path_;
  bool json_;
  bool forgets_;
  GroupRoster roster_;
  std::optional<recipe::Members> told_;  // the members last reported
};

int watch(const Call& call, const GroupWatchOptions& options) {
  const std::string path = path_before_command(call, kGroupPath);
  const bool json = is_json(options.format);
  WatchJob job(call, path, options.halt);
  WatchedGroup group(job.session(), path, json, job.has_command());
  return job.run(group);
}

}  // namespace

Execute add_group_watch(CLI::App& app, GlobalOptions& global) {
  const auto options = std::make_shared<GroupWatchOptions>();
  add_format_options(app, options->format, "One JSON object per line");
  add_flag(app, "--halt", options->halt, "If the command fails, exit with its status");
  finish(app, global, "Usage: zklock group watch [OPTIONS] GROUP [-- COMMAND [ARG...]]", kWatchFooter);
  return execute_with(watch, options);
}

}  // namespace zklock::command
