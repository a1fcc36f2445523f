// SPDX-License-Identifier: Apache-2.0
// zklock help: prints the commands by purpose, or the help of one; at a terminal it opens the manual page of that one.
#include "command/cli/output.h"
#include "command/subcommands.h"
#include "host/terminal.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace zklock::command {

namespace {

constexpr const char* kHelpFooter =
    "Examples:\n"
    "  zklock help queue pull      # its manual, at a terminal\n"
    "  zklock help recipes\n\n"
    "Manual: zklock(1)";

constexpr const char* kMore = "More: zklock queue pull --help; zklock help queue pull (the manual); man zklock\n";

// Manual pages that are about no command, like zklock-recipes(7).
constexpr const char* kTopics[] = {"recipes", "compare", "protocol", "compatibility", "sandbox"};

std::string topic_of(const std::vector<std::string>& words) {
  const bool found = words.size() == 1 && std::ranges::find(kTopics, words.front()) != std::end(kTopics);
  return found ? "zklock-" + words.front() : "";
}

const CLI::App& subcommand_of(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  if (found.empty()) throw unknown_word(app, name);
  return *found.front();
}

// Returns "zklock-queue", which the last line of the help names.
std::string page_of(const CLI::App& app) {
  constexpr std::string_view kHead = "Manual: ";
  const std::string footer = app.get_footer();
  const size_t begin = footer.rfind(kHead) + kHead.size();
  return footer.substr(begin, footer.find('(', begin) - begin);
}

// Replaces zklock by man; returns if there is no such page here.
void open_page(const std::string& page, const host::Inherited& inherited) {
  if (host::succeeds(host::Program::find({"man", "-w", page}), inherited)) {
    host::become(host::Program::find({"man", page}), inherited);
  }
}

int show_topic(const std::string& page, const host::Inherited& inherited) {
  open_page(page, inherited);
  throw Failure(ExitStatus::no, "the manual page " + page + " is not installed here");
}

int show_help(const Call& call) {
  const CLI::App& root = *call.app.get_parent();
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  if (const std::string topic = topic_of(words); !topic.empty()) return show_topic(topic, call.inherited);
  const CLI::App* app = &root;
  for (const std::string& name : words) app = &subcommand_of(*app, name);
  if (app != &root && host::is_terminal_output()) {
    try {
      open_page(page_of(*app), call.inherited);
    } catch (const Failure&) {
      // Without man, the help is printed instead.
    }
  }
  print(app == &root ? overview(root) + kMore : app->help());
  return 0;
}

}  // namespace

Execute add_help(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock help [COMMAND | TOPIC]");
  set_footer(app, kHelpFooter);
  return show_help;
}

}  // namespace zklock::command
