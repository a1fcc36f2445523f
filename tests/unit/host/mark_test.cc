// SPDX-License-Identifier: Apache-2.0
// host/process/mark: marks of other processes.
#include "host/process/mark.h"

#include "host/process/tree.h"
#include "support/process.h"

#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace {

using namespace std::chrono_literals;
using support::TempDir;
using support::wait_until;

// A process with a mark, until there is a file `go`; then it lives on without.
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

// It came when the outer one's mark was gone already, and stands in line for it now: both would wait for ever.
ISOLATED_TEST(Nesting, OneThatTakesItsMarkAwayIsNotWaitedForAnyLonger) {
  const TempDir folder;
  const pid_t child = start_marked(folder, 7);
  Loop loop;
  NestingMarks nest({7});
  const Attached waiting(loop, nest);
  EXPECT_TRUE(nest.close_and_look());
  folder.write("go", "");
  const Deadline end = deadline_in(support::kBound);
  while (nest.close_and_look() && left_until(end) > Duration::zero()) loop.turn(end);  // it wakes up by itself
  EXPECT_LT(BootClock::now(), end);
  EXPECT_TRUE(support::is_alive(child));
  ::kill(child, SIGKILL);
}

ISOLATED_TEST(Nesting, MarkOfAnotherLockDoesNotCount) {
  const TempDir folder;
  const pid_t child = start_marked(folder, 7);
  NestingMarks nest({8});
  EXPECT_FALSE(nest.close_and_look());
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace zklock::host
