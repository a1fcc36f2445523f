// SPDX-License-Identifier: Apache-2.0
// The table of all subcommands. Each adds its own options, in a function that the header of its folder declares.
// zklock-compatibility(7) promises all options, and the fields of what is printed as JSON.
#pragma once

#include "command/cli/subcommand.h"

#include <optional>
#include <span>

namespace zklock::command {

// What a subcommand is given besides its options. Only completions need to know: each subcommand checks its words.
enum class Operands {
  none,
  path,               // a lock, a queue, a group or a node
  paths,              // any number of them
  path_and_command,   // the command stands after "--"
  locks_and_command,  // the same for any number of locks
  servers,
  word_and_servers,  // a four-letter word, then servers
  subcommands,       // help
};

struct Subcommand {
  const char* name;
  const char* help;
  Operands operands;
  AddOptions add;
  const char* purpose = nullptr;  // its heading in the help; "": the help does not show it
  std::span<const Subcommand> below = {};
  std::optional<int> failure_status = {};  // replaces every status of zklock's own
};

// All of them except help.
extern const std::span<const Subcommand> kSubcommands;

// Adds zklock help [COMMAND | TOPIC].
Execute add_help(CLI::App& app, GlobalOptions& global);
inline constexpr Subcommand kHelp{"help", "List the commands, or show the manual of one", Operands::subcommands,
                                  add_help, ""};

// Adds zklock complete -- WORD..., which answers the completions of all shells. The words are those of a command line
// behind "zklock", unquoted, up to the cursor; the last one is not complete and may be empty. It prints nothing if
// nothing can be offered. Otherwise the first line says what follows, or what the shell has to complete:
//   words      a line for each word, with its explanation after a tab
//   paths      a line for each znode one level deep; more may follow it, so the shell adds no space
//   files      the word is a file's name
//   servers    the word is a host's name
//   command N  the words from the N-th on, counted from 0, are a command line of their own
// A word "--acl=o" is answered with the values alone, "open". Asking servers for paths takes at most a second. It is
// not for people, so no help shows it.
Execute add_complete(CLI::App& app, GlobalOptions& global);

}  // namespace zklock::command
