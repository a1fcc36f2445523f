// SPDX-License-Identifier: Apache-2.0
// The parser of the command line: finds the subcommand, and reads its options.
#pragma once

#include "command/subcommands.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace zklock::command {

// The parser with what it has read. Only the subcommand that is named gets its options, because making all options
// of all subcommands would take longer than the rest of a start.
class CommandLine {
 public:
  // For a command line that begins with these words. If they name no subcommand, the options of all are added.
  explicit CommandLine(std::span<const std::string> words);

  // Throws what CLI11 throws.
  void parse(const std::vector<std::string>& words);

  // Once the words are parsed, starts the subcommand, which checks its words itself. Throws a Failure (64) for an
  // unknown word or a missing command before it.
  int execute(const Arguments& arguments, const host::Inherited& inherited, ExitPolicy& policy) const;

  const CLI::App& root() const { return root_; }
  const CLI::App& named() const;  // the innermost subcommand that was named, or the root
  std::optional<int> failure_status() const;
  bool asks_for_version() const { return version_; }
  const GlobalOptions& global() const { return global_; }  // those after the subcommand win

 private:
  // How a subcommand is started.
  struct Start {
    Execute execute;
    GlobalOptions global;  // those after the subcommand
    std::optional<int> failure_status;
  };

  CLI::App& add(CLI::App& parent, const Subcommand& subcommand);
  bool add_named(CLI::App& parent, std::span<const Subcommand> subcommands, std::span<const std::string> words);
  void check(const CLI::App& app) const;

  CLI::App root_{"Distributed locks, queues, groups and values for the shell, on ZooKeeper", "zklock"};
  std::map<const CLI::App*, Start> starts_;  // without those that do nothing by themselves
  GlobalOptions global_;
  bool version_ = false;
};

// An option among the words.
struct OptionWord {
  const CLI::Option* option = nullptr;  // of several letters in a word, the last one; null: `app` has none
  bool value_follows = false;           // the next word is its value
};
OptionWord option_in(const CLI::App& app, const std::string& word);

}  // namespace zklock::command
