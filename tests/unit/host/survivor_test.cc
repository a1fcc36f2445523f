// SPDX-License-Identifier: Apache-2.0
// host/process/survivor: a process that outlives zklock for a moment. bats/run/run_killed: it ends the session.
#include "host/process/survivor.h"

#include "host/process/tree.h"
#include "support/process.h"

#include <csignal>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::host {
namespace survivor_test {

using support::TempDir;
using support::wait_until;

// Otherwise a kill of the whole job would hit it, too.
ISOLATED_TEST(Survivor, IsNotInTheGroupOfWhomItOutlives) {
  const Survivor survivor([] {});
  const auto children = own_children();
  ASSERT_TRUE(children && children->size() == 1);
  EXPECT_TRUE(wait_until([&] { return getpgid(children->front()) == children->front(); }));
}

ISOLATED_TEST(Survivor, DoesItsWorkOnceItsParentIsDeadAndNoSooner) {
  const TempDir folder;
  const pid_t zklock = support::start_process([&]() -> int {
    const Survivor survivor([&] { folder.write("done", ""); });
    folder.write("ready", "");
    for (;;) pause();
  });
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  EXPECT_FALSE(support::exists(folder.file("done")));
  ::kill(zklock, SIGKILL);
  EXPECT_TRUE(wait_until([&] { return support::exists(folder.file("done")); }));
}

// A reader of zklock's output must not wait until the session is ended.
ISOLATED_TEST(Survivor, HoldsNothingOpenThatItsParentHad) {
  const TempDir folder;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t zklock = support::start_process([&]() -> int {
    const Survivor survivor([&] {
      folder.write("survivor", fmt::format("{}\n", getpid()));
      for (;;) pause();
    });
    folder.write("ready", "");
    for (;;) pause();
  });
  close(ends[1]);
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  ::kill(zklock, SIGKILL);
  const pid_t survivor = support::pid_in(folder.file("survivor"));
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 10'000), 1);
  EXPECT_TRUE(support::is_alive(survivor));
  ::kill(survivor, SIGKILL);
}

}  // namespace survivor_test
}  // namespace zklock::host
