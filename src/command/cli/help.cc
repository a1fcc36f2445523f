// SPDX-License-Identifier: Apache-2.0
// How --help and zklock help look, and what -V prints.
#include "command/cli/options.h"
#include "zk/client.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>
#include <zklock_commit.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zklock::command {

namespace {

using Apps = std::vector<const CLI::App*>;

constexpr const char* kHome = ZKLOCK_HOMEPAGE;
constexpr size_t kOptionColumn = 30;
constexpr ptrdiff_t kScreen = 23;  // lines of a small terminal, less the prompt

// Returns the subcommands by purpose. The purposes are in the order of their first subcommands.
std::vector<std::pair<std::string, Apps>> by_purpose(const CLI::App& root) {
  std::vector<std::pair<std::string, Apps>> purposes;
  for (const CLI::App* app : root.get_subcommands(nullptr)) {
    const std::string& purpose = app->get_group();
    if (purpose.empty()) continue;
    auto found = std::ranges::find(purposes, purpose, &std::pair<std::string, Apps>::first);
    if (found == purposes.end()) found = purposes.insert(found, {purpose, {}});
    found->second.push_back(app);
  }
  return purposes;
}

std::string line_of(const std::string& name, const CLI::App& app) {
  return fmt::format("  {:<14} {}\n", name, app.get_description());
}

// Returns "queue push, pull, list".
std::string names_of(const Apps& apps) {
  std::string names;
  for (const CLI::App* app : apps) {
    const Apps subcommands = app->get_subcommands(nullptr);
    names += (names.empty() ? "" : ", ") + app->get_name();
    if (!subcommands.empty()) names += ' ' + names_of(subcommands);
  }
  return names;
}

std::string commands_of(const CLI::App& app) {
  if (app.get_subcommands(nullptr).empty()) return "";
  std::string text;
  if (!app.get_parent()) {
    for (const auto& [purpose, apps] : by_purpose(app)) text += fmt::format("{:<9}{}\n", purpose + ':', names_of(apps));
    return text;
  }
  text += "Commands:\n";
  for (const CLI::App* subcommand : app.get_subcommands(nullptr)) text += line_of(subcommand->get_name(), *subcommand);
  return text;
}

std::string short_name(const CLI::Option& option) {
  return option.get_snames().empty() ? "--" + option.get_lnames().front() : "-" + option.get_snames().front();
}

// The options of TLS share a line in the root's help, and a word elsewhere, so that the help fits a screen.
bool is_of_tls(const CLI::Option& option) {
  return !option.get_lnames().empty() && option.get_lnames().front().starts_with("tls");
}

class HelpLayout : public CLI::Formatter {
 public:
  explicit HelpLayout(std::string usage) : usage_(std::move(usage)) { column_width(kOptionColumn); }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const std::string footer = app->get_footer() + '\n';
    const size_t cut = footer.find("\n\n") + 1;
    std::vector<std::string> pieces{app->get_description() + '\n' + usage_ + '\n', footer.substr(0, cut),
                                    commands_of(*app), options_of(*app), footer.substr(cut + 1)};
    std::erase(pieces, "");
    std::string text = fmt::format("{}", fmt::join(pieces, "\n"));
    if (std::ranges::count(text, '\n') > kScreen) text = fmt::format("{}", fmt::join(pieces, ""));
    // The usage says the same again.
    if (std::ranges::count(text, '\n') > kScreen) text.erase(0, text.find('\n') + 1);
    return text;
  }

 private:
  std::string options_of(const CLI::App& app) const {
    const bool only_help = app.get_parent() && !app.get_subcommands(nullptr).empty();
    std::string text = only_help ? "Options:\n" : "Options (-h,--help: this text):\n";
    std::string also;
    std::string tls;
    for (const CLI::Option* option : app.get_options()) {
      if (!only_help && option == app.get_help_ptr()) continue;
      if (is_of_tls(*option)) {
        tls += fmt::format("{}--{}{}", tls.empty() ? "" : ", ", option->get_lnames().front(), make_option_opts(option));
      } else if (app.get_parent() && option->get_group() == kRootOptions) {
        continue;  // the line of the others is full
      } else if (app.get_parent() && option->get_group() == kGlobalOptions) {
        also += ' ' + short_name(*option);
      } else {
        text += make_option(option, false);
      }
    }
    if (!app.get_parent()) return fmt::format("{}  {}\n", text, tls);
    if (!tls.empty()) also += " --tls";
    return also.empty() ? text : fmt::format("{}zklock -h:{}\n", text, also);
  }

  std::string usage_;
};

}  // namespace

void set_usage(CLI::App& app, const std::string& usage) {
  app.formatter(std::make_shared<HelpLayout>(usage));
}

std::string overview(const CLI::App& root) {
  std::string text;
  for (const auto& [purpose, apps] : by_purpose(root)) {
    std::string head = purpose + ':';
    const auto add = [&](const std::string& name, const CLI::App& app) {
      text += fmt::format("{:<7}{}", head, line_of(name, app));
      head.clear();
    };
    for (const CLI::App* app : apps) {
      const Apps subcommands = app->get_subcommands(nullptr);
      if (subcommands.empty()) add(app->get_name(), *app);
      for (const CLI::App* one : subcommands) add(app->get_name() + ' ' + one->get_name(), *one);
    }
  }
  return text;
}

std::string version_text() {
  const std::string commit = *ZKLOCK_COMMIT == '\0' ? "" : ", commit " ZKLOCK_COMMIT;
  return fmt::format("zklock {}\nZooKeeper C client {}\n{}\nbuilt with {}, {}{}\n", ZKLOCK_VERSION,
                     zk::Client::version(), host::tls_version(), ZKLOCK_COMPILER, ZKLOCK_BUILD, commit);
}

std::string where_to_report() {
  const std::string place = *kHome == '\0' ? "to whoever gave you zklock" : fmt::format("at {}/issues", kHome);
  return place + ", with the output of zklock -V";
}

}  // namespace zklock::command
