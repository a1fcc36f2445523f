// SPDX-License-Identifier: Apache-2.0
#include "command/cli/help.h"

#include "command/cli/help_layout.h"
#include "command/cli/output.h"

#include <CLI/CLI.hpp>

namespace zklock::command {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  zklock help\n"
    "  zklock help queue pull      # the same as zklock queue pull --help\n"
    "Manual: zklock(1)";

constexpr const char* kWhereToReadOn = "More: zklock help queue pull; zklock --help; man zklock, man zklock-recipes\n";

const CLI::App& subcommand(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  if (found.empty()) throw unknown_word(app, name);
  return *found.front();
}

}  // namespace

Help::Help(CLI::App& root)
    : root_(root), app_(add_command(root, "help", "Show the commands by purpose, or the help of one")) {
  set_usage(*app_, "Usage: zklock help [COMMAND]");
  set_footer(*app_, kFooter);
}

int Help::execute(const Arguments& arguments, const GlobalOptions&, const host::Inherited&, ExitPolicy&) const {
  const CLI::App* app = &root_;
  for (const std::string& name : operands_of(*app_, arguments)) app = &subcommand(*app, name);
  print(app == &root_ ? overview(root_) + kWhereToReadOn : app->help());
  return 0;
}

}  // namespace zklock::command
