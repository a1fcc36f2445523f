// SPDX-License-Identifier: Apache-2.0
#include "command/group/delete.h"

#include "recipe/group/node.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Exit status: 0 it is gone; 64 usage, 65 the path is used for something else,\n"
    "69 no server, 75 there are members or there is no such group, 77 refused.\n\n"
    "Examples:\n"
    "  zklock group delete /groups/web\n"
    "  zklock group delete --force /groups/old    # its members too\n"
    "Manual: zklock-group(1)";

Failure not_empty(const recipe::GroupRemoval& removal, const std::string& tried, bool forced) {
  if (removal.others > 0) {
    return {ExitStatus::bad_data,
            fmt::format("{}: there {} below it that {} no member; delete what is below first", tried,
                        removal.others == 1 ? "is a node" : fmt::format("are {} nodes", removal.others),
                        removal.others == 1 ? "is" : "are")};
  }
  return {ExitStatus::busy, fmt::format("{}: {} in it{}", tried, members_are(removal.members),
                                        forced ? ", and others keep coming" : "; --force removes them")};
}

}  // namespace

GroupDelete::GroupDelete(CLI::App& group) : app_(add_command(group, "delete", "Remove a group that is empty")) {
  set_usage(*app_, "Usage: zklock group delete [OPTIONS] GROUP");
  add_flag(*app_, "--force", force_, "Remove its members too; they do not come back");
  add_global_options(*app_, global_);
  set_footer(*app_, kFooter);
}

int GroupDelete::execute(const Arguments& arguments, const GlobalOptions& global, const host::Inherited&,
                         ExitPolicy&) const {
  using End = recipe::GroupRemoval::End;
  const std::string path = group_path(*app_, arguments);
  const std::string tried = "cannot delete " + path;
  host::Loop loop;
  zk::Session session(loop, session_options(global));
  session.set_purpose(tried);
  session.open(kNever);
  const recipe::GroupRemoval removal = recipe::remove_group(session, path, force_, tried, kNever);
  session.close();
  switch (removal.end) {
    case End::done:
      return 0;
    case End::absent:
      throw Failure(ExitStatus::busy, tried + ": there is no such group");
    case End::not_empty:
      throw not_empty(removal, tried, force_);
    case End::expired:
      break;
  }
  throw zk::expired(tried);
}

}  // namespace zklock::command
