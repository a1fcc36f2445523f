// SPDX-License-Identifier: Apache-2.0
// argv, cut at its first "--" before CLI11 sees it: what stands behind is the command, byte for byte. And CLI11's
// complaints, turned into one line that names the culprit.
#pragma once

#include "base/failure.h"

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace zklock::command {

struct Arguments {
  std::vector<std::string> options;  // before the first "--", without the program's name
  std::vector<std::string> command;  // behind it
  bool separated = false;            // there was a "--"

  static Arguments cut(int argc, char** argv);
};

// For an option or argument of `app` that nobody knows, with the nearest one that there is.
Failure unknown_word(const CLI::App& app, const std::string& word);

// For a word that may be the beginning of a command.
Failure unexpected_word(const std::string& word, const Arguments& arguments);

// The words before the "--" that `app` has no option for, those that look like one among them.
std::vector<std::string> words_of(const CLI::App& app);

// The words that `app` was given besides its options, before and behind the "--". Throws a Failure (64) for an option
// that nobody knows.
std::vector<std::string> operands_of(const CLI::App& app, const Arguments& arguments);

Failure usage_error_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace zklock::command
