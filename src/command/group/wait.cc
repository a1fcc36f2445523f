// SPDX-License-Identifier: Apache-2.0
#include "command/group/wait.h"

#include "recipe/group/node.h"
#include "recipe/group/roster.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0; 64 usage, 65 the path is used for something else, 69 no server,\n"
    "75 not in time, 77 refused.\n\n"
    "Examples:\n"
    "  zklock group wait --at-least 3 -w 5m /groups/web && next-step\n"
    "  zklock group wait --at-most 0 /groups/old\n"
    "Manual: zklock-group(1)";

}  // namespace

GroupWait::GroupWait(CLI::App& group) : app_(add_command(group, "wait", "Wait until enough have come, or gone")) {
  set_usage(*app_,
            "Usage: zklock group wait --at-least N [OPTIONS] GROUP\n"
            "       zklock group wait --at-most N [OPTIONS] GROUP");
  add_value(*app_, "--at-least", at_least_, "Until there are N members or more", "N");
  add_value(*app_, "--at-most", at_most_, "Until there are N members or fewer", "N");
  add_value(*app_, "-w,--timeout", timeout_, "Wait at most so long, connecting included", "DUR");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int GroupWait::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                       ExitPolicy&) const {
  const std::string path = group_path(*app_, arguments);
  const auto least = member_count(at_least_, "--at-least");
  const auto most = member_count(at_most_, "--at-most");
  if (least.has_value() == most.has_value()) throw usage_error("give either --at-least N or --at-most N");
  const Duration span = timeout_ ? duration_of(*timeout_, "--timeout") : Duration::max();
  const bool waits = span > Duration::zero();
  // -w 0 leaves the time to connect and to look.
  const Deadline until = waits ? deadline_in(span) : kNever;
  host::Loop loop;
  zk::Session session(loop, session_options(global));
  const std::string tried = "cannot wait for " + path;
  session.set_purpose(tried);
  session.open(until);
  recipe::look_at_group(session, path, tried, until);
  recipe::GroupRoster roster(session, path, false);
  for (;;) {
    if (session.expired()) session.open(until);
    if (roster.look(until) == recipe::GroupRoster::State::expired) continue;
    const size_t members = roster.members().size();
    if (least ? members >= *least : members <= *most) break;
    while (waits && !roster.is_stale() && left_until(until) > Duration::zero()) session.turn(until);
    if (waits && left_until(until) > Duration::zero()) continue;
    session.close();
    throw Failure(ExitStatus::busy, fmt::format("{} any longer: {}, not at {} {}", tried, members_are(members),
                                                least ? "least" : "most", least ? *least : *most));
  }
  session.close();
  return 0;
}

}  // namespace zklock::command
