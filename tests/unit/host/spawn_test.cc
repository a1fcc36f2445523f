// SPDX-License-Identifier: Apache-2.0
// host/process/spawn: programs are found before any wait, and executed with their variables.
#include "host/process/spawn.h"

#include "support/process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace spawn_test {

using support::TempDir;

constexpr const char* kScript = "#!/bin/sh\n";

// Sets PATH for the time of a test.
class SearchPath {
 public:
  explicit SearchPath(const std::string& path) { setenv("PATH", path.c_str(), 1); }
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_ = getenv("PATH");
};

std::optional<Failure> failure_to_find(const std::string& name) {
  return support::failure_of([&] { Program::find({name}); });
}

// Runs `program` and returns its standard output and wait status.
support::Ended run(const Program& program, const std::vector<std::string>& variables = {}) {
  return support::run_process([&] { return Execution(program, variables).execute(); });
}

TEST(Program, FirstExecutableInPathIsTaken) {
  const TempDir one;
  const TempDir two;
  const SearchPath path(one.path() + ":" + two.path());
  two.write("job", kScript, 0755);
  EXPECT_EQ(Program::find({"job"}).file, two.file("job"));
  one.write("job", kScript, 0755);
  EXPECT_EQ(Program::find({"job"}).file, one.file("job"));
}

TEST(Program, FilesThatMayNotBeExecutedAreSkippedInPath) {
  const TempDir one;
  const TempDir two;
  const SearchPath path(one.path() + ":/nonexistent:" + two.path());
  one.write("job", kScript, 0644);
  mkdir(one.file("tool").c_str(), 0755);
  two.write("job", kScript, 0755);
  two.write("tool", kScript, 0755);
  EXPECT_EQ(Program::find({"job"}).file, two.file("job"));
  EXPECT_EQ(Program::find({"tool"}).file, two.file("tool"));
}

TEST(Program, NameWithASlashIsNotLookedUp) {
  const TempDir folder;
  const SearchPath path("/nonexistent");
  const std::string file = folder.write("job", kScript, 0755);
  EXPECT_EQ(Program::find({file}).file, file);
  EXPECT_EQ(failure_to_find("./job")->status(), ExitStatus::not_found);
}

ISOLATED_TEST(Program, EmptyElementOfPathIsTheCurrentFolder) {
  const TempDir folder;
  folder.write("job", "#!/bin/sh\necho here", 0755);
  ASSERT_EQ(chdir(folder.path().c_str()), 0);
  for (const char* value : {":/nonexistent", "/nonexistent:", "/nonexistent::/bin"}) {
    const SearchPath path(value);
    EXPECT_EQ(run(Program::find({"job"})).output, "here\n") << value;
  }
}

ISOLATED_TEST(Program, UsualFoldersAreSearchedWithoutPath) {
  unsetenv("PATH");
  EXPECT_TRUE(Program::find({"sh"}).file.ends_with("/bin/sh"));
  EXPECT_EQ(failure_to_find("no-such-command")->status(), ExitStatus::not_found);
}

TEST(Program, ThatIsNotThereIs127AndThatMayNotBeExecuted126) {
  const TempDir folder;
  const SearchPath path(folder.path());
  const std::string plain = folder.write("plain", kScript, 0644);
  const std::pair<std::string, ExitStatus> cases[] = {
      {"missing", ExitStatus::not_found},
      {folder.file("missing"), ExitStatus::not_found},
      {plain + "/below", ExitStatus::not_found},
      {"", ExitStatus::not_found},
      {std::string(300, 'x'), ExitStatus::not_found},
      {plain, ExitStatus::not_executable},
      {"plain", ExitStatus::not_executable},
      {folder.path(), ExitStatus::not_executable},
      {"/", ExitStatus::not_executable},
  };
  for (const auto& [name, status] : cases) {
    const auto failure = failure_to_find(name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->status(), status) << name << ": " << failure->text();
    EXPECT_NE(failure->text().find("cannot run " + name), std::string::npos) << failure->text();
  }
}

TEST(Program, FailureNamesItSafely) {
  EXPECT_EQ(failure_to_find("a\x1b[2J\nb")->text(), "cannot run a\\x1b[2J\\x0ab: command not found");
}

TEST(Program, MissingInterpreterIs127AndSaysSo) {
  const TempDir folder;
  const Program program = Program::find({folder.write("job", "#!/nonexistent/interpreter\n", 0755)});
  const auto ended = run(program);
  EXPECT_EQ(WEXITSTATUS(ended.wait_status), ENOENT);
  const Failure failure = cannot_execute(program, ENOENT);
  EXPECT_EQ(failure.status(), ExitStatus::not_found);
  EXPECT_NE(failure.text().find("interpreter"), std::string::npos);
}

TEST(Program, OtherErrorsOfExecutionAre126WithTheirReason) {
  for (const int error : {EACCES, E2BIG, ENOEXEC, ETXTBSY, ENOMEM}) {
    const Failure failure = cannot_execute({"/bin/job", {"job"}}, error);
    EXPECT_EQ(failure.status(), ExitStatus::not_executable);
    EXPECT_EQ(failure.text(), std::string("cannot run job: ") + strerror(error));
  }
}

TEST(Program, FileWithoutAnInterpreterIsRunByTheShellWithItsArguments) {
  const TempDir folder;
  const std::string file = folder.write("job", "echo \"$0|$1|$2|$#\"; exit 3", 0755);
  const auto ended = run(Program::find({file, "a b", ""}));
  EXPECT_EQ(ended.output, file + "|a b||2\n");
  EXPECT_EQ(WEXITSTATUS(ended.wait_status), 3);
}

TEST(Program, ArgumentsArriveByteForByte) {
  using namespace std::string_literals;
  const auto ended = run(Program::find({"printf", "%s|", "", " a ", "\n", "[]", "\xff\x01", "--", "-n", "*", "$HOME"}));
  EXPECT_EQ(ended.output, "| a |\n|[]|\xff\x01|--|-n|*|$HOME|");
}

TEST(Program, TypedNameIsItsArgumentZero) {
  const auto ended = run(Program::find({"sh", "-c", "cat /proc/$$/cmdline | tr '\\0' ' '"}));
  EXPECT_TRUE(ended.output.starts_with("sh -c ")) << ended.output;
}

ISOLATED_TEST(Program, VariablesAreReplacedAndTheRestIsKept) {
  clearenv();
  setenv("PATH", "/usr/bin:/bin", 1);
  setenv("KEPT", "a=b\nc", 1);
  setenv("ZKLOCK_PATH", "/outer", 1);
  setenv("ZKLOCK_PATHS", "longer name", 1);
  setenv("ZKLOCK", "shorter name", 1);
  const auto ended = run(Program::find({"env", "-0"}), {"ZKLOCK_PATH=/inner=1", "ZKLOCK_TOKEN="});
  using namespace std::string_literals;
  EXPECT_EQ(ended.output,
            "PATH=/usr/bin:/bin\0KEPT=a=b\nc\0ZKLOCK_PATHS=longer name\0ZKLOCK=shorter name\0"
            "ZKLOCK_PATH=/inner=1\0ZKLOCK_TOKEN=\0"s);
}

TEST(Program, ThatVanishedSinceItWasFoundReturnsItsError) {
  const TempDir folder;
  const Program program = Program::find({folder.write("job", kScript, 0755)});
  unlink(program.file.c_str());
  EXPECT_EQ(WEXITSTATUS(run(program).wait_status), ENOENT);
}

}  // namespace spawn_test
}  // namespace zklock::host
