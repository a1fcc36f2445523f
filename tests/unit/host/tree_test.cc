// SPDX-License-Identifier: Apache-2.0
// host/process/tree: finds and ends everything that descends from a process. Each test runs in a process of its own,
// which becomes the subreaper.
#include "host/process/tree.h"

#include "host/fd.h"
#include "host/signals.h"
#include "support/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <poll.h>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace tree_test {

using namespace std::chrono_literals;
using support::TempDir;
using support::wait_until;

pid_t start_shell(const std::string& script) {
  return support::start_process([&] {
    execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    return 127;
  });
}

bool has_child() {
  return reap_children([](pid_t, int) {});
}

// Kills and reaps in rounds, as the guard does; returns false if a process is left at the bound.
bool end_all(Duration bound = support::kBound) {
  return wait_until(
      [] {
        kill_descendants();
        return !has_child();
      },
      bound);
}

std::set<pid_t> pids_below(pid_t ancestor) {
  std::set<pid_t> pids;
  for (const Process process : descendants_of(ancestor)) pids.insert(process.pid);
  return pids;
}

ISOLATED_TEST(Tree, DescendantsAreListedParentsFirst) {
  const TempDir folder;
  become_subreaper();
  start_shell("sh -c 'sleep 300 & echo $! >" + folder.file("grandchild") + "; wait' & wait");
  const pid_t grandchild = support::pid_in(folder.file("grandchild"));
  std::map<pid_t, size_t> place;
  const auto found = descendants_of(getpid());
  for (const Process process : found) {
    EXPECT_TRUE(process.parent == getpid() || place.contains(process.parent)) << process.pid;
    place.emplace(process.pid, place.size());
  }
  EXPECT_EQ(found.size(), 3u);
  EXPECT_TRUE(place.contains(grandchild));
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, OnlyDescendantsAreListed) {
  become_subreaper();
  const pid_t child = start_shell("exec sleep 300");
  EXPECT_EQ(pids_below(getpid()), std::set<pid_t>{child});
  EXPECT_TRUE(descendants_of(child).empty());
  EXPECT_FALSE(pids_below(getpid()).contains(getppid()));
  EXPECT_TRUE(end_all());
  EXPECT_TRUE(descendants_of(getpid()).empty());
}

ISOLATED_TEST(Tree, NameOfAProcessCannotHideIt) {
  become_subreaper();
  const TempDir folder;
  const std::string odd = folder.file("a) S 1 (b");
  ASSERT_EQ(symlink("/bin/sleep", odd.c_str()), 0);
  const pid_t child = start_shell("exec '" + odd + "' 300");
  EXPECT_TRUE(
      wait_until([&] { return support::contents_of("/proc/" + std::to_string(child) + "/comm").starts_with("a)"); }));
  EXPECT_TRUE(pids_below(getpid()).contains(child));
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, NobodyEscapesByADoubleForkOrASessionOfItsOwn) {
  const TempDir folder;
  become_subreaper();
  const pid_t child = start_shell("(setsid sh -c '(sleep 300 & echo $! >" + folder.file("pid") + ") & sleep 301' &) ");
  const pid_t daemon = support::pid_in(folder.file("pid"));
  EXPECT_TRUE(wait_until([&] { return waitpid(child, nullptr, WNOHANG) == child; }));
  EXPECT_TRUE(wait_until([&] { return pids_below(getpid()).contains(daemon); }));
  EXPECT_TRUE(end_all());
  EXPECT_FALSE(support::is_alive(daemon));
}

ISOLATED_TEST(Tree, ThoseThatIgnoreTermAreKilled) {
  const TempDir folder;
  become_subreaper();
  start_shell("trap '' TERM HUP INT; sleep 300 | (echo $$ >" + folder.file("ready") + "; sleep 300; sleep 300)");
  support::pid_in(folder.file("ready"));
  EXPECT_TRUE(signal_descendants({SIGTERM}).empty());
  EXPECT_TRUE(has_child());
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, StoppedProcessesAreKilledToo) {
  become_subreaper();
  const pid_t child = start_shell("kill -STOP $$");
  int wait_status = 0;
  EXPECT_EQ(waitpid(child, &wait_status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(wait_status));
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, SignalReachesEveryDescendant) {
  become_subreaper();
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  const auto wait_for_it = [&] {
    int signal = 0;
    sigwait(&awaited, &signal);
    return 5;
  };
  support::start_process([&] {
    support::start_process(wait_for_it);
    return wait_for_it();
  });
  EXPECT_TRUE(wait_until([] { return descendants_of(getpid()).size() == 2; }));
  EXPECT_TRUE(signal_descendants({SIGUSR1}).empty());
  std::vector<int> statuses;
  const auto report = [&](pid_t, int wait_status) { statuses.push_back(WEXITSTATUS(wait_status)); };
  EXPECT_TRUE(wait_until([&] { return !reap_children(report); }));
  EXPECT_EQ(statuses, (std::vector<int>{5, 5}));
}

ISOLATED_TEST(Tree, KillingLeavesTheCallerAndItsSiblingsAlone) {
  become_subreaper();
  // The sibling of the process that kills.
  const pid_t sibling = start_shell("exec sleep 300");
  const auto ended = support::run_process([] {
    become_subreaper();
    start_shell("exec sleep 300");
    return end_all() ? 0 : 1;
  });
  EXPECT_EQ(ended.wait_status, 0);
  EXPECT_TRUE(support::is_alive(sibling));
  EXPECT_TRUE(end_all());
}

// Starts a hundred at once, all without their parents.
ISOLATED_TEST(Tree, WideTreesAreEnded) {
  become_subreaper();
  start_shell("i=0; while [ $i -lt 100 ]; do (sleep 300 &); i=$((i + 1)); done");
  EXPECT_TRUE(wait_until([] { return descendants_of(getpid()).size() >= 50; }));
  EXPECT_TRUE(end_all());
  EXPECT_TRUE(descendants_of(getpid()).empty());
}

// Forks every `pause` and lets the child go on, as long as `span`.
[[noreturn]] void run_away(std::chrono::milliseconds pause, Duration span) {
  const Deadline until = deadline_in(span);
  while (left_until(until) > Duration::zero()) {
    if (pause > 0ms) ::poll(nullptr, 0, static_cast<int>(pause.count()));
    if (fork() > 0) _exit(0);
  }
  _exit(0);
}

ISOLATED_TEST(Tree, ForkLoopCannotRunAway) {
  become_subreaper();
  support::start_process([]() -> int { run_away(5ms, 20s); });
  EXPECT_TRUE(wait_until([] {
    has_child();
    return descendants_of(getpid()).size() == 1;
  }));
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, LoopThatForksManyCannotRunAway) {
  become_subreaper();
  start_shell("i=0; while [ $i -lt 2000 ]; do sleep 300 & i=$((i + 1)); done; wait");
  EXPECT_TRUE(wait_until([] { return descendants_of(getpid()).size() > 5; }));
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, FastForkLoopCannotRunAway) {
  become_subreaper();
  // This takes longer than both waits below together, even on a busy machine.
  support::start_process([]() -> int { run_away(0ms, 30s); });
  const Deadline by_itself = deadline_in(30s);
  EXPECT_TRUE(wait_until([] { return descendants_of(getpid()).size() > 500; }));
  EXPECT_TRUE(end_all());
  EXPECT_LT(BootClock::now(), by_itself);
}

// A short command that forks all the time can leave as many; their signal has been taken already.
ISOLATED_TEST(Tree, MoreDeadThanAreReapedAtOnceAreTold) {
  const Fd child_signal = open_child_signal();
  constexpr int kMany = 4200;
  int made = 0;
  while (made < kMany) {
    const pid_t pid = vfork();  // copying what sanitizers have mapped would take a minute
    if (pid == 0) _exit(0);
    if (pid < 0) break;
    ++made;
  }
  if (made < kMany) GTEST_SKIP() << "not so many processes are allowed here";
  EXPECT_TRUE(wait_until([] { return std::ranges::none_of(*own_children(), support::is_alive); }));
  drain(child_signal);
  int reaped = 0;
  const auto count = [&](pid_t, int) { ++reaped; };
  EXPECT_TRUE(reap_children(count));
  EXPECT_LT(reaped, kMany);
  pollfd told{child_signal.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&told, 1, 0), 1);
  EXPECT_FALSE(reap_children(count));
  EXPECT_EQ(reaped, kMany);
}

ISOLATED_TEST(Tree, WithoutADescriptorNobodyIsTakenForGone) {
  start_shell("exec sleep 300");
  std::vector<Fd> taken;
  const rlimit few{16, 16};
  setrlimit(RLIMIT_NOFILE, &few);
  while (taken.empty() || taken.back()) taken.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(own_children());
  taken.clear();
  EXPECT_EQ(own_children().value_or(std::vector<pid_t>()).size(), 1u);
  EXPECT_TRUE(end_all());
}

ISOLATED_TEST(Tree, ReapingReportsEndsAndStops) {
  become_subreaper();
  const pid_t ending = start_shell("exit 7");
  const support::TempDir folder;
  const pid_t stopping =
      start_shell("kill -STOP $$; until [ -e " + folder.file("go") + " ]; do sleep 0.01; done; exit 8");
  std::map<pid_t, std::vector<int>> seen;
  const auto reap = [&] { return reap_children([&](pid_t pid, int status) { seen[pid].push_back(status); }); };
  EXPECT_TRUE(wait_until([&] { return reap() && seen.size() == 2; }));
  EXPECT_EQ(WEXITSTATUS(seen[ending].front()), 7);
  EXPECT_TRUE(WIFSTOPPED(seen[stopping].front()));
  ::kill(stopping, SIGCONT);
  ASSERT_TRUE(wait_until([&] { return reap() && seen[stopping].size() == 2; }));
  EXPECT_TRUE(WIFCONTINUED(seen[stopping][1]));
  std::ofstream(folder.file("go")).close();
  EXPECT_TRUE(wait_until([&] { return !reap(); }));
  ASSERT_EQ(seen[stopping].size(), 3u);
  EXPECT_EQ(WEXITSTATUS(seen[stopping][2]), 8);
}

}  // namespace tree_test
}  // namespace zklock::host
