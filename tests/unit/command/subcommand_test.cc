// SPDX-License-Identifier: Apache-2.0
// command/cli/subcommand: argv is cut at its first "--", and each complaint is one line.
#include "command/cli/subcommand.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace zklock::command {
namespace subcommand_test {

using Words = std::vector<std::string>;

Arguments cut(const Words& words) {
  return Arguments::cut(words);
}

TEST(Arguments, AreCutAtTheFirstSeparatorOnly) {
  const Arguments all = cut({"run", "-n", "/l", "--", "cmd", "--", "-n", ""});
  EXPECT_EQ(all.options, (Words{"run", "-n", "/l"}));
  EXPECT_EQ(all.command, (Words{"cmd", "--", "-n", ""}));
  EXPECT_TRUE(all.separated);
}

TEST(Arguments, CommandIsKeptByteForByte) {
  const Words command = {"[]", "[a,b]", "[::1]", "a\nb", "\xff", "--version", "-", "$HOME", " "};
  Words words = {"--"};
  words.insert(words.end(), command.begin(), command.end());
  EXPECT_EQ(cut(words).command, command);
}

TEST(Arguments, AnEmptyValueBehindAnEqualsSignIsAWordOfItsOwn) {
  EXPECT_EQ(cut({"run", "--label=", "/l", "--", "--x="}).options, (Words{"run", "--label", "", "/l"}));
  EXPECT_EQ(cut({"run", "--label=", "/l", "--", "--x="}).command, (Words{"--x="}));
  EXPECT_EQ(cut({"--a=b=", "-c="}).options, (Words{"--a=b=", "-c="}));
}

TEST(Arguments, WithoutASeparatorAllAreOptions) {
  EXPECT_EQ(cut({"run", "/l"}).options, (Words{"run", "/l"}));
  EXPECT_FALSE(cut({"run", "/l"}).separated);
  EXPECT_TRUE(cut({"run", "---", "-"}).command.empty());
  EXPECT_TRUE(cut({}).options.empty());
}

TEST(Arguments, SeparatorWithNothingBehindItIsSeen) {
  EXPECT_TRUE(cut({"run", "--"}).separated);
  EXPECT_TRUE(cut({"run", "--"}).command.empty());
}

TEST(Arguments, OperandsStandBeforeAndBehindTheSeparator) {
  const auto operands = [](Words words) {
    const Arguments arguments = cut(std::move(words));
    CLI::App root("", "zklock");
    CLI::App* show = root.add_subcommand("show", "");
    root.require_subcommand(0, 1);
    show->allow_extras();
    root.parse(Words(arguments.options.rbegin(), arguments.options.rend()));
    return operands_of(*show, arguments);
  };
  EXPECT_EQ(operands({"show"}), Words());
  EXPECT_EQ(operands({"show", "/a", "[b,c]", "show", "--", "-d"}), (Words{"/a", "[b,c]", "show", "-d"}));
  EXPECT_THROW(operands({"show", "/a", "-d"}), Failure);
}

class ArgumentErrors : public testing::Test {
 protected:
  ArgumentErrors() {
    run_->add_flag("-n,--nonblock", flag_);
    run_->add_option("-w,--timeout", value_);
    root_.add_flag("-V,--version", flag_);
  }

  CLI::App root_{"", "zklock"};
  CLI::App* run_ = root_.add_subcommand("run", "");
  CLI::App* show_ = root_.add_subcommand("show", "");
  bool flag_ = false;
  int value_ = 0;
};

TEST_F(ArgumentErrors, NameTheNearestOptionOrSubcommand) {
  const struct {
    CLI::App& app;
    const char* word;
    const char* culprit;
    const char* meant;
  } cases[] = {
      {*run_, "--nonblok", "'--nonblok'", "'--nonblock'"},
      {*run_, "--timout=5", "'--timout=5'", "'--timeout'"},
      {root_, "rnu", "'rnu'", "'run'"},
      {root_, "shwo", "'shwo'", "'show'"},
      {root_, "--versoin", "'--versoin'", "'--version'"},
  };
  for (const auto& c : cases) {
    const Failure failure = unknown_word(c.app, c.word);
    EXPECT_EQ(failure.status(), ExitStatus::usage);
    EXPECT_NE(failure.text().find(c.culprit), std::string::npos) << failure.text();
    EXPECT_NE(failure.text().find(c.meant), std::string::npos) << failure.text();
  }
}

TEST_F(ArgumentErrors, SuggestNothingForWhatIsNearNothing) {
  for (const char* word : {"frobnicate", "--frobnicate", "-x"}) {
    EXPECT_EQ(unknown_word(root_, word).text().find("mean"), std::string::npos) << word;
  }
}

TEST_F(ArgumentErrors, OfALeafAreNotAboutSubcommands) {
  const Failure failure = unknown_word(*run_, "extra");
  EXPECT_EQ(failure.status(), ExitStatus::usage);
  EXPECT_EQ(failure.text().find("command"), std::string::npos) << failure.text();
  EXPECT_NE(failure.text().find("'extra'"), std::string::npos) << failure.text();
}

TEST_F(ArgumentErrors, AreOneSafeLine) {
  for (const char* word : {"a\nb", "--a\x1b[2J", "\xff"}) {
    const std::string text = unknown_word(root_, word).text();
    EXPECT_EQ(text.find_first_of("\n\x1b\xff"), std::string::npos) << text;
  }
}

TEST_F(ArgumentErrors, OfTheParserBecomeOneLineWithTheWayToHelp) {
  const auto failure_of = [this](Words reversed) {
    try {
      root_.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return usage_error_of(*run_, error);
    }
    return Failure(ExitStatus::done, "");
  };
  for (const Words& words : {Words{"--timeout", "run"}, Words{"a\nb", "--timeout", "run"}}) {
    const Failure failure = failure_of(words);
    EXPECT_EQ(failure.status(), ExitStatus::usage);
    EXPECT_NE(failure.text().find("--timeout"), std::string::npos) << failure.text();
    EXPECT_NE(failure.text().find("zklock run --help"), std::string::npos) << failure.text();
    EXPECT_EQ(failure.text().find('\n'), std::string::npos) << failure.text();
  }
}

}  // namespace subcommand_test
}  // namespace zklock::command
