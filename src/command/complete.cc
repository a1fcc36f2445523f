// SPDX-License-Identifier: Apache-2.0
// zklock complete: what the shells offer at the cursor, out of the options that the parser has and the table of
// subcommands.
#include "command/cli/output.h"
#include "command/command_line.h"
#include "command/complete_path.h"
#include "command/health/words.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace zklock::command {

namespace {

using Words = std::vector<std::string>;
using Offers = std::vector<std::pair<std::string, std::string>>;  // each with its explanation, or ""

// The words before the cursor.
struct Before {
  const CLI::App* app;                      // the innermost subcommand that is named, or the root
  Operands operands = Operands::none;       // of that
  const CLI::Option* option = nullptr;      // the one whose value is at the cursor
  std::set<const CLI::Option*> given = {};  // options of `app`
  Words words = {};                         // operands of `app`
  std::optional<size_t> command = {};       // the index of the first word behind "--"
};

const CLI::App* find_subcommand(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

Before read(const CLI::App& root, const Words& words) {
  Before before{&root};
  std::span<const Subcommand> table = kSubcommands;
  for (size_t i = 0; i < words.size() && !before.command; ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      before.command = i + 1;
    } else if (before.option) {
      before.option = nullptr;
    } else if (word.size() > 1 && word.starts_with('-')) {
      const OptionWord found = option_in(*before.app, word);
      before.given.insert(found.option);
      if (found.value_follows) before.option = found.option;
    } else if (const CLI::App* app = find_subcommand(*before.app, word)) {
      const auto row = std::ranges::find(table, word, &Subcommand::name);
      const Subcommand& named = row == table.end() ? kHelp : *row;
      before = {app, named.operands};
      table = named.below;
    } else {
      before.words.push_back(word);
    }
  }
  return before;
}

// --- what is offered

// Prints the lines of those that begin with `typed`.
void offer(const char* kind, const Offers& offers, const std::string& typed) {
  std::string text;
  for (const auto& [word, help] : offers) {
    if (word.starts_with(typed)) text += fmt::format("{}{}{}\n", word, help.empty() ? "" : "\t", help);
  }
  if (!text.empty()) print(fmt::format("{}\n{}", kind, text));
}

template <typename List>
void offer_words(const List& words, const std::string& typed) {
  Offers offers;
  for (const auto& word : words) offers.emplace_back(word, "");
  offer("words", offers, typed);
}

// Offers the options that were not given yet.
void offer_options(const Before& before, const std::string& typed) {
  Offers offers;
  for (const CLI::Option* option : before.app->get_options([](const CLI::Option*) { return true; })) {
    if (before.given.contains(option)) continue;
    for (const std::string& name : option->get_snames()) offers.emplace_back("-" + name, option->get_description());
    for (const std::string& name : option->get_lnames()) offers.emplace_back("--" + name, option->get_description());
  }
  offer("words", offers, typed);
}

void offer_subcommands(const CLI::App& app, const std::string& typed, bool with_help) {
  Offers offers;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = one->get_name();
    if (name != "complete" && (with_help || name != kHelp.name)) offers.emplace_back(name, one->get_description());
  }
  offer("words", offers, typed);
}

// Returns the options for a session from the words before the cursor. The last one may be an option whose value is
// missing. Throws a Failure (64) if they cannot be parsed: without the others, the wrong servers could be asked.
GlobalOptions global_options_in(Words words) {
  for (bool again = false;; again = true) {
    const Arguments arguments = Arguments::cut(words);
    CommandLine line(arguments.options);
    try {
      line.parse(arguments.options);
      return line.global();
    } catch (const CLI::ParseError& error) {
      if (again || words.empty()) throw usage_error_of(line.named(), error);
      words.pop_back();
    }
  }
}

// The end of the words, where the next one is typed.
class Cursor {
 public:
  Cursor(const Words& words, std::string typed, Deadline until)
      : words_(words), typed_(std::move(typed)), until_(until), line_(words), before_(read(line_.root(), words)) {}

  void offer_all() const {
    const size_t equals = typed_.starts_with("--") ? typed_.find('=') : std::string::npos;
    if (before_.command) return offer_command();
    if (before_.option) return offer_values(*before_.option, typed_);
    if (equals != std::string::npos) {
      const CLI::Option* const option = option_in(*before_.app, typed_).option;
      return option ? offer_values(*option, typed_.substr(equals + 1)) : void();
    }
    if (typed_.starts_with('-')) return offer_options(before_, typed_);
    offer_operands();
  }

 private:
  bool takes_command() const {
    return before_.operands == Operands::path_and_command || before_.operands == Operands::locks_and_command;
  }

  void offer_command() const {
    if (takes_command()) print(fmt::format("command {}\n", *before_.command));
  }

  void offer_values(const CLI::Option& option, const std::string& typed) const {
    const std::string type = option.get_type_name();
    if (type == kFile) return print("files\n");
    if (type == kPath) return paths(typed);
    if (type.find('|') != std::string::npos) offer_words(CLI::detail::split(type, '|'), typed);
  }

  void offer_operands() const {
    const bool first = before_.words.empty();
    switch (before_.operands) {
      case Operands::none: return first ? offer_subcommands(*before_.app, typed_, true) : void();
      case Operands::subcommands: return offer_subcommands_of_words();
      case Operands::path: return first ? paths(typed_) : void();
      case Operands::paths: return paths(typed_);
      case Operands::path_and_command: return first ? paths(typed_) : offer_end();
      case Operands::locks_and_command: return first || !typed_.empty() ? paths(typed_) : offer_end();
      case Operands::servers: return print("servers\n");
      case Operands::word_and_servers: return first ? offer_words(kWords, typed_) : print("servers\n");
    }
  }

  // Behind a path, the command is more likely than another path.
  void offer_end() const {
    const CLI::Option* const shell = before_.app->get_option_no_throw("--command");
    if (!shell || !before_.given.contains(shell)) offer("words", {{"--", "The command follows"}}, typed_);
  }

  void offer_subcommands_of_words() const {
    const CLI::App* app = &line_.root();
    for (const std::string& word : before_.words) {
      app = find_subcommand(*app, word);
      if (!app) return;
    }
    offer_subcommands(*app, typed_, false);
  }

  void paths(const std::string& prefix) const {
    // For a value every node counts.
    offer_paths(prefix.empty() ? "/" : prefix, global_options_in(words_),
                before_.app->get_parent()->get_name() == "value", until_);
  }

  const Words& words_;
  std::string typed_;
  Deadline until_;
  CommandLine line_;
  Before before_;
};

// Returns 0 within a second, whatever happens. It prints no message, because there is no place for one where a person
// types.
int complete(const Call& call) {
  const Deadline until = deadline_in(kCompletionPatience);
  Words words = call.arguments.command;
  if (words.empty()) return 0;
  std::string typed = std::move(words.back());
  words.pop_back();
  try {
    Cursor(words, std::move(typed), until).offer_all();
  } catch (const Failure&) {
  }
  return 0;
}

}  // namespace

Execute add_complete(CLI::App& app, GlobalOptions&) {
  set_usage(app, "Usage: zklock complete -- WORD...");
  return complete;
}

}  // namespace zklock::command
