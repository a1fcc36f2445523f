// SPDX-License-Identifier: Apache-2.0
#include "command/arguments.h"

#include "base/text.h"
#include "command/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

std::string hint(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

}  // namespace

Arguments Arguments::cut(int argc, char** argv) {
  Arguments cut;
  for (int i = 1; i < argc; ++i) {
    if (!cut.separated && std::string_view(argv[i]) == "--") {
      cut.separated = true;
    } else {
      (cut.separated ? cut.command : cut.options).emplace_back(argv[i]);
    }
  }
  return cut;
}

Failure unknown_word(const CLI::App& app, const std::string& word) {
  const std::string shown = printable(word);
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return usage_error(fmt::format("unknown option '{}'{}", shown, hint(name, option_names(app))));
  }
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands(nullptr)) names.push_back(subcommand->get_name());
  if (names.empty()) return usage_error(fmt::format("unexpected argument '{}'", shown));
  return usage_error(fmt::format("unknown command '{}'{}", shown, hint(word, names)));
}

Failure unexpected_word(const std::string& word, const Arguments& arguments) {
  const char* hint = arguments.separated ? "" : ": write -- before the command";
  return usage_error(fmt::format("unexpected argument '{}'{}", printable(word), hint));
}

void check_rest(const CLI::App& app, const Arguments& arguments) {
  const auto rest = app.remaining();
  if (rest.empty()) return;
  if (rest.front().starts_with("-")) throw unknown_word(app, rest.front());
  throw unexpected_word(rest.front(), arguments);
}

std::vector<std::string> words_of(const CLI::App& app) {
  return app.remaining();
}

std::vector<std::string> operands_of(const CLI::App& app, const Arguments& arguments) {
  std::vector<std::string> operands = app.remaining();
  for (const std::string& word : operands) {
    if (word.starts_with('-')) throw unknown_word(app, word);
  }
  operands.insert(operands.end(), arguments.command.begin(), arguments.command.end());
  return operands;
}

Failure usage_error_of(const CLI::App& app, const CLI::ParseError& error) {
  // Its messages may have several lines; the first says it, behind the option's name where a value is missing.
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  const bool missing = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (missing) text = text.substr(0, text.find(':')) + " needs a value";
  return usage_error(fmt::format("{} (see {} --help)", printable(text), full_name(app)));
}

}  // namespace zklock::command
