// SPDX-License-Identifier: Apache-2.0
#include "command/command_line.h"

#include "host/terminal.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  zklock run /locks/nightly -- backup --all     # one at a time, on all hosts\n"
    "  zklock run -w 5m -c 'make && deploy' /locks/deploy\n";

// Returns the words from the subcommand on, behind options of `root`; none if there is an option for which all
// subcommands are needed, or one that is not understood here.
std::span<const std::string> behind_options(const CLI::App& root, std::span<const std::string> words) {
  size_t next = 0;
  while (next < words.size() && words[next].starts_with('-')) {
    const OptionWord word = option_in(root, words[next]);
    if (!word.option || word.option == root.get_help_ptr()) return {};
    next += word.value_follows ? 2 : 1;
  }
  return words.subspan(std::min(next, words.size()));
}

}  // namespace

CommandLine::CommandLine(std::span<const std::string> words) {
  set_usage(root_, "Usage: zklock COMMAND [OPTIONS] ... | zklock help [COMMAND | TOPIC]");
  set_footer(root_, fmt::format("{}\nBugs: report them {}\nManual: zklock(1)", kExamples, where_to_report()));
  root_.allow_extras();
  root_.require_subcommand(0, 1);
  const bool leads = words.empty() || !words.front().starts_with('-');
  if (leads && add_named(root_, kSubcommands, words)) return;
  root_.add_flag("-V,--version", version_, "Print the version");
  add_global_options(root_, global_);
  if (!leads && add_named(root_, kSubcommands, behind_options(root_, words))) return;
  add(root_, kHelp);
}

CLI::App& CommandLine::add(CLI::App& parent, const Subcommand& subcommand) {
  CLI::App& app = *parent.add_subcommand(subcommand.name, subcommand.help);
  app.allow_extras();  // the subcommand handles words that are no options
  if (subcommand.purpose) app.group(subcommand.purpose);
  // At most one, or CLI11 would take an item called "push" for a subcommand.
  if (!subcommand.below.empty()) app.require_subcommand(0, 1);
  Start& start = starts_[&app];
  start.execute = subcommand.add(app, start.global);
  start.failure_status = subcommand.failure_status;
  if (!start.execute) starts_.erase(&app);
  return app;
}

// Adds to `parent` only the subcommand that the first of `words` names. If it names none, adds all, for the help and
// for a hint. Returns whether it names one.
bool CommandLine::add_named(CLI::App& parent, std::span<const Subcommand> subcommands,
                            std::span<const std::string> words) {
  const auto is_named = [&](const Subcommand& one) { return !words.empty() && words.front() == one.name; };
  const bool named = std::any_of(subcommands.begin(), subcommands.end(), is_named);
  for (const Subcommand& subcommand : subcommands) {
    if (named && !is_named(subcommand)) continue;
    CLI::App& app = add(parent, subcommand);
    add_named(app, subcommand.below, named ? words.subspan(1) : std::span<const std::string>());
  }
  return named;
}

void CommandLine::parse(const std::vector<std::string>& words) {
  // CLI11 takes the words from the back.
  root_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  const auto start = starts_.find(&named());
  if (start != starts_.end()) global_.merge(start->second.global);
}

const CLI::App& CommandLine::named() const {
  const CLI::App* app = &root_;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::optional<int> CommandLine::failure_status() const {
  const auto start = starts_.find(&named());
  return start == starts_.end() ? std::nullopt : start->second.failure_status;
}

int CommandLine::execute(const Arguments& arguments, const host::Inherited& inherited, ExitPolicy& policy) const {
  check(root_);
  if (global_.no_color) host::refuse_colours();
  return starts_.at(&named()).execute({named(), arguments, global_, inherited, policy});
}

void CommandLine::check(const CLI::App& app) const {
  if (starts_.contains(&app)) return;
  const auto rest = app.remaining();
  if (!rest.empty()) throw unknown_word(app, rest.front());
  if (!app.get_subcommands().empty()) return check(*app.get_subcommands().front());
  if (app.get_parent()) {
    throw usage_error(fmt::format("no command named: see zklock {} --help", app.get_name()));
  }
  throw usage_error("no command named: write zklock run LOCK -- COMMAND, or see zklock help");
}

OptionWord option_in(const CLI::App& app, const std::string& word) {
  const auto takes_value = [](const CLI::Option* option) { return option && option->get_items_expected_max() > 0; };
  if (word.starts_with("--")) {
    const size_t equals = word.find('=');
    const CLI::Option* const option = app.get_option_no_throw(word.substr(0, equals));
    return {option, takes_value(option) && equals == std::string::npos};
  }
  const CLI::Option* option = nullptr;
  for (size_t at = 1; at < word.size(); ++at) {
    option = app.get_option_no_throw(std::string("-") + word[at]);
    if (takes_value(option)) return {option, at + 1 == word.size()};
    if (!option || option == app.get_help_ptr()) break;
  }
  return {option, false};
}

}  // namespace zklock::command
