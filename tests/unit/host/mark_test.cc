// SPDX-License-Identifier: Apache-2.0
// host/process/mark: marks of other processes.
#include "host/process/mark.h"

#include "host/process/tree.h"
#include "support/process.h"

#include <csignal>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace mark_test {

using namespace std::chrono_literals;
using support::TempDir;
using support::wait_until;

// Starts a process that has a mark until there is a file `go`, and then lives on without.
pid_t start_marked(const TempDir& folder, int64_t token) {
  const pid_t child = support::start_process([&]() -> int {
    {
      const Fd mark = mark_nested(token);
      folder.write("marked", "");
      wait_until([&] { return support::exists(folder.file("go")); }, 1h);
    }
    for (;;) pause();
  });
  EXPECT_TRUE(wait_until([&] { return support::exists(folder.file("marked")); }));
  return child;
}

// Needs no event: it wakes up by itself.
void wait_until_unused(NestingMarks& nest, Loop& loop) {
  const Deadline end = deadline_in(support::kBound);
  while (nest.close_and_look() && left_until(end) > Duration::zero()) loop.turn(end);
  EXPECT_LT(BootClock::now(), end);
}

// The inner zklock came after the outer one's mark was gone, and now waits in line for it: both would wait forever.
ISOLATED_TEST(Nesting, OneThatTakesItsMarkAwayIsNotWaitedForAnyLonger) {
  const TempDir folder;
  const pid_t child = start_marked(folder, 7);
  Loop loop;
  NestingMarks nest({7});
  const Attached waiting(loop, nest);
  EXPECT_TRUE(nest.close_and_look());
  folder.write("go", "");
  wait_until_unused(nest, loop);
  EXPECT_TRUE(support::is_alive(child));
  ::kill(child, SIGKILL);
}

ISOLATED_TEST(Nesting, OneThatHasEndedDoesNotWakeUsAgainAndAgain) {
  const TempDir folder;
  const pid_t child = start_marked(folder, 7);
  Loop loop;
  NestingMarks nest({7});
  const Attached waiting(loop, nest);
  EXPECT_TRUE(nest.close_and_look());
  ::kill(child, SIGKILL);
  wait_until_unused(nest, loop);
  int turns = 0;
  for (const Deadline rest = deadline_in(100ms); left_until(rest) > Duration::zero(); ++turns) loop.turn(rest);
  EXPECT_LT(turns, 10);
}

ISOLATED_TEST(Nesting, MarkOfAnotherLockDoesNotCount) {
  const TempDir folder;
  const pid_t child = start_marked(folder, 7);
  NestingMarks nest({8});
  EXPECT_FALSE(nest.close_and_look());
  ::kill(child, SIGKILL);
}

ISOLATED_TEST(Nesting, WhoseLockIsAboutToGoIsNoLongerBelieved) {
  NestingMarks nest({7});
  EXPECT_TRUE(is_open_for_nesting(getpid(), 7));
  EXPECT_FALSE(nest.close_and_look());
  EXPECT_FALSE(is_open_for_nesting(getpid(), 7));
}

// Returns 0 if another user, who learns nothing of locks from the kernel, believes that `outer` has a mark.
int believes_as_another(pid_t outer) {
  if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 2;
  return is_open_for_nesting(outer, 7) ? 0 : 1;
}

ISOLATED_TEST(Nesting, OfWhomNothingCanBeSeenItIsBelieved) {
  const TempDir folder;
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two";
  const auto look = [outer = getpid()] { return believes_as_another(outer); };
  EXPECT_EQ(WEXITSTATUS(support::run_process(look).wait_status), 1);
  const std::string hidden = folder.write("locks", "", 0);
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount(hidden.c_str(), "/proc/locks", nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "no mount namespace can be made here";
  }
  EXPECT_EQ(WEXITSTATUS(support::run_process(look).wait_status), 0);
}

}  // namespace mark_test
}  // namespace zklock::host
