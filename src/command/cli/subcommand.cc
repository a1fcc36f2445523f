// SPDX-License-Identifier: Apache-2.0
#include "command/cli/subcommand.h"

#include "base/contains.h"
#include "base/text.h"
#include "command/cli/options.h"

#include <algorithm>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

using Names = std::vector<std::string>;

// --- words that people know from other tools, and what zklock has instead

struct Habit {
  const char* typed;
  const char* answer;
  const char* needed = nullptr;  // the option or subcommand without which the answer does not apply
};

constexpr const char* kRun = "write zklock run LOCK -- COMMAND";
constexpr const char* kUnlock = "a lock is given back when its command ends; zklock break LOCK has its holder let go";
constexpr const char* kElect = "write zklock run --restart LOCK -- COMMAND: one runs it, the others stand by";
constexpr const char* kShow = "zklock show LOCK shows who holds a lock, zklock show -r / all that are held";

// Typed in the place of a command of zklock itself.
constexpr Habit kCommands[] = {
    {"lock", kRun},    {"exec", kRun},     {"acquire", kRun},   {"flock", kRun},
    {"elect", kElect}, {"leader", kElect}, {"unlock", kUnlock}, {"release", kUnlock},
    {"ls", kShow},     {"list", kShow},    {"status", kShow},
};

// Typed after a command that has others below it, like queue: the name of the one that is meant.
constexpr Habit kBelow[] = {
    {"ls", "list", "list"},         {"show", "list", "list"}, {"rm", "delete", "delete"},
    {"remove", "delete", "delete"}, {"pop", "pull", "pull"},  {"add", "push", "push"},
    {"create", "set", "set"},       {"put", "set", "set"},    {"cat", "get", "get"},
};

constexpr const char* kNotInherited = "leave it out: the command does not inherit the lock";
constexpr const char* kStays = "leave it out: zklock stays beside its command, to keep the lock";

// Options of flock(1).
constexpr Habit kOptions[] = {
    {"--wait", "write -w DUR or --timeout DUR", "--timeout"},
    {"--nb", "write -n or --nonblock", "--nonblock"},
    {"-e", "write -x or --exclusive, or nothing", "--exclusive"},
    {"-o", kNotInherited, "--exclusive"},
    {"--close", kNotInherited, "--exclusive"},
    {"-F", kStays, "--exclusive"},
    {"--no-fork", kStays, "--exclusive"},
    {"-u", kUnlock, "--exclusive"},
    {"--unlock", kUnlock, "--exclusive"},
};

// Returns the answer to `word` for a command that has these options or subcommands; empty: there is none.
std::string answer_to(std::span<const Habit> habits, std::string_view word, const Names& names) {
  for (const Habit& habit : habits) {
    if (word == habit.typed && (!habit.needed || contains(names, habit.needed))) return habit.answer;
  }
  return "";
}

// --- error messages

Names option_names(const CLI::App& app) {
  Names names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Names subcommand_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* subcommand : app.get_subcommands(nullptr)) names.push_back(subcommand->get_name());
  return names;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::string hint(const CLI::App& app, const std::string& word, const Names& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? fmt::format("see {} --help", full_name(app)) : fmt::format("did you mean '{}'?", near);
}

// Returns "write zklock queue push" for a "push" in the place of "queue"; empty if no command has a subcommand `word`.
std::string one_level_deeper(const CLI::App& root, const std::string& word) {
  std::string found;
  for (const CLI::App* app : root.get_subcommands(nullptr)) {
    if (!contains(subcommand_names(*app), word)) continue;
    found += fmt::format("{}{} {}", found.empty() ? "write " : " or ", full_name(*app), word);
  }
  return found;
}

std::string hint_for_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const Names names = option_names(app);
  const std::string answer = answer_to(kOptions, name, names);
  return answer.empty() ? hint(app, name, names) : answer;
}

std::string hint_for_path(const CLI::App& app, const std::string& shown) {
  if (app.get_parent()) return fmt::format("write what to do before it, see {} --help", full_name(app));
  return fmt::format("write zklock run {0} -- COMMAND, zklock show {0} or zklock break {0}", shown);
}

std::string hint_for_command(const CLI::App& app, const std::string& word, const Names& names) {
  if (word.starts_with('/')) return hint_for_path(app, printable(word));
  if (app.get_parent()) {
    const std::string meant = answer_to(kBelow, word, names);
    return meant.empty() ? hint(app, word, names) : fmt::format("did you mean '{}'?", meant);
  }
  std::string answer = answer_to(kCommands, word, names);
  if (answer.empty()) answer = one_level_deeper(app, word);
  return answer.empty() ? hint(app, word, names) : answer;
}

}  // namespace

Arguments Arguments::cut(const std::vector<std::string>& words) {
  Arguments cut;
  for (const std::string_view word : words) {
    if (!cut.separated && word == "--") {
      cut.separated = true;
    } else if (!cut.separated && word.starts_with("--") && word.find('=') == word.size() - 1) {
      // CLI11 would take the next word for the value of an empty --label=.
      cut.options.emplace_back(word.substr(0, word.size() - 1));
      cut.options.emplace_back();
    } else {
      (cut.separated ? cut.command : cut.options).emplace_back(word);
    }
  }
  return cut;
}

Failure unknown_word(const CLI::App& app, const std::string& word) {
  const std::string shown = printable(word);
  if (word.starts_with("-")) {
    return usage_error(fmt::format("unknown option '{}'; {}", shown, hint_for_option(app, word)));
  }
  const Names names = subcommand_names(app);
  if (names.empty()) return usage_error(fmt::format("unexpected argument '{}'", shown));
  return usage_error(fmt::format("unknown command '{}'; {}", shown, hint_for_command(app, word, names)));
}

Failure unexpected_word(const std::string& word, const Arguments& arguments) {
  const char* hint = arguments.separated ? "" : ": write -- before the command";
  return usage_error(fmt::format("unexpected argument '{}'{}", printable(word), hint));
}

std::vector<std::string> words_of(const CLI::App& app) {
  return app.remaining();
}

std::vector<std::string> operands_of(const CLI::App& app, const Arguments& arguments) {
  std::vector<std::string> operands = app.remaining();
  for (const std::string& word : operands) {
    if (word.starts_with('-') && word != "-") throw unknown_word(app, word);
  }
  operands.insert(operands.end(), arguments.command.begin(), arguments.command.end());
  return operands;
}

std::string first_path(const std::vector<std::string>& words, const Call& call, const PathOperand& operand) {
  if (words.empty()) {
    throw usage_error(fmt::format("no {} named: write {} {}", operand.kind, full_name(call.app), operand.example));
  }
  operand.check(words.front());
  return words.front();
}

Failure second_path(const std::string& word, const PathOperand& operand) {
  return usage_error(fmt::format("unexpected argument '{}': one {} at a time", printable(word), operand.kind));
}

std::string path_of(const Call& call, const PathOperand& operand) {
  const std::vector<std::string> words = operands_of(call.app, call.arguments);
  if (words.size() > 1) throw second_path(words[1], operand);
  return first_path(words, call, operand);
}

std::string path_before_command(const Call& call, const PathOperand& operand) {
  const std::vector<std::string> words = words_of(call.app);
  for (const std::string& word : words) {
    if (word.starts_with('-')) throw unknown_word(call.app, word);
  }
  const bool separated = call.arguments.separated;
  if (separated && call.arguments.command.empty()) throw usage_error("no command behind --");
  std::string path = first_path(words, call, operand);
  if (words.size() == 1) return path;
  throw separated ? second_path(words[1], operand) : unexpected_word(words[1], call.arguments);
}

std::optional<host::Program> program_of(const Call& call) {
  if (!call.arguments.separated) return std::nullopt;
  return host::Program::find(call.arguments.command);
}

Failure usage_error_of(const CLI::App& app, const CLI::ParseError& error) {
  // CLI11's messages may have several lines. The first one says it; if a value is missing, after the option's name.
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  // "tls was given a disallowed flag override"
  const size_t overridden = text.find(" was given a disallowed flag override");
  if (overridden != std::string::npos) {
    return usage_error(fmt::format("--{} takes no value; see {} --help", text.substr(0, overridden), full_name(app)));
  }
  const bool missing = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (missing) text = text.substr(0, text.find(':')) + " needs a value";
  // "Could not convert: --quiet = maybe"
  const size_t option = text.find("--");
  const bool surplus = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && option != std::string::npos;
  if (surplus) text = text.substr(option, text.find(" =", option) - option) + " takes no value";
  return usage_error(fmt::format("{}; see {} --help", printable(text), full_name(app)));
}

}  // namespace zklock::command
