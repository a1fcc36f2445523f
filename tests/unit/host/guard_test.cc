// SPDX-License-Identifier: Apache-2.0
// host/process/guard and the guard's own process, with real commands. Each test runs in a process of its own.
#include "host/process/guard.h"

#include "base/failure.h"
#include "host/process/tree.h"
#include "host/signals.h"
#include "support/process.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::host {
namespace guard_test {

using namespace std::chrono_literals;
using support::is_alive;
using support::kBound;
using support::pid_in;
using support::TempDir;
using support::wait_until;

// Takes over what this process was started with, once, as zklock does.
const Inherited& inherited_once() {
  static const Inherited inherited = Inherited::take_over();
  return inherited;
}

// A guard in its loop, with a shell command to run.
class Guarded {
 public:
  explicit Guarded(const std::string& script, const Inherited& inherited = inherited_once(),
                   Service service = Service::once)
      : Guarded(Program::find({"/bin/sh", "-c", script}), inherited, service) {}
  Guarded(Program program, const Inherited& inherited, Service service = Service::once)
      : before_(children()),
        guard_(std::make_unique<Guard>(service, std::move(program), inherited)),
        guard_pid_(new_child(before_)),
        attached_(std::make_unique<Attached>(loop_, *guard_)) {}

  Guard& start(const std::vector<std::string>& variables = {}) {
    guard_->start({variables});
    return *guard_;
  }
  // Needs Service::again. Starts the command once more, and waits for its end.
  bool runs(const Launch& launch) {
    guard_->start(launch);
    if (!until([this] { return guard_->phase() >= CommandPhase::ended; })) return false;
    guard_->let_go();
    return true;
  }
  // Turns the loop until `fact` is true; false if it does not come true.
  bool until(const std::function<bool()>& fact, Duration bound = kBound) {
    const Deadline end = deadline_in(bound);
    while (!fact()) {
      if (left_until(end) == Duration::zero()) return false;
      loop_.turn(std::min(end, deadline_in(5ms)));
    }
    return true;
  }
  bool until_gone(Duration bound = kBound) {
    return until([this] { return guard_->gone(); }, bound);
  }
  bool until_phase(CommandPhase phase) {
    return until([this, phase] { return guard_->phase() == phase; });
  }
  void end() {
    attached_.reset();
    guard_.reset();
  }
  Guard& guard() { return *guard_; }
  pid_t guard_pid() const { return guard_pid_; }
  // Does not poll in between, so only what the guard asks to be woken for ends a turn.
  bool until_woken(const std::function<bool()>& fact) {
    const Deadline end = deadline_in(kBound);
    while (!fact() && left_until(end) > Duration::zero()) loop_.turn(end);
    return left_until(end) > Duration::zero();
  }

 private:
  static std::vector<pid_t> children() { return own_children().value_or(std::vector<pid_t>()); }
  static pid_t new_child(const std::vector<pid_t>& before) {
    const auto now = own_children(before).value_or(std::vector<pid_t>());
    if (now.size() != 1) throw std::runtime_error("the guard is not to be seen in /proc");
    return now.front();
  }

  Loop loop_;
  std::vector<pid_t> before_;
  std::unique_ptr<Guard> guard_;
  pid_t guard_pid_;
  std::unique_ptr<Attached> attached_;
};

// Returns the state of the process; 'S' means that it sleeps.
char state_of(pid_t pid) {
  const std::string stat = support::contents_of(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? '?' : stat[name_end + 2];
}

// Returns how often the process has gone to sleep.
long rests_of(pid_t pid) {
  const std::string status = support::contents_of(fmt::format("/proc/{}/status", pid));
  const std::string name = "\nvoluntary_ctxt_switches:";
  const size_t at = status.find(name);
  return at == std::string::npos ? -1 : std::atol(status.c_str() + at + name.size());
}

// Waits until none of this process's descendants is left.
bool nothing_is_left() {
  return wait_until([] { return !reap_children([](pid_t, int) {}); });
}

ISOLATED_TEST(Guard, ReportsTheExitStatusOfTheCommand) {
  for (const int status : {0, 1, 7, 64, 75, 76, 126, 127, 128, 255}) {
    Guarded guarded(fmt::format("exit {}", status));
    Guard& guard = guarded.start();
    ASSERT_TRUE(guarded.until_gone());
    ASSERT_TRUE(WIFEXITED(guard.wait_status())) << status;
    EXPECT_EQ(WEXITSTATUS(guard.wait_status()), status);
    EXPECT_NO_THROW(guard.check_execution());
    EXPECT_FALSE(guard.killed());
  }
}

ISOLATED_TEST(Guard, ReportsTheSignalThatEndedTheCommand) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM, SIGPIPE, SIGSEGV, SIGUSR1, SIGRTMIN}) {
    Guarded guarded(fmt::format("ulimit -c 0; kill -{} $$", signal));
    Guard& guard = guarded.start();
    ASSERT_TRUE(guarded.until_gone());
    ASSERT_TRUE(WIFSIGNALED(guard.wait_status())) << signal;
    EXPECT_EQ(WTERMSIG(guard.wait_status()), signal);
  }
}

ISOLATED_TEST(Guard, ReportsThatTheCommandCouldNotBeExecuted) {
  const TempDir folder;
  const std::pair<std::string, ExitStatus> cases[] = {
      {folder.write("interpreter", "#!/nonexistent\n", 0755), ExitStatus::not_found},
      {folder.write("vanishes", "#!/bin/sh\n", 0755), ExitStatus::not_found},
      {folder.write("protected", "#!/bin/sh\n", 0755), ExitStatus::not_executable},
  };
  for (const auto& [file, status] : cases) {
    Guarded guarded(Program::find({file}), inherited_once());
    if (file.ends_with("vanishes")) unlink(file.c_str());
    if (file.ends_with("protected")) chmod(file.c_str(), 0644);
    Guard& guard = guarded.start();
    ASSERT_TRUE(guarded.until_gone());
    const auto failure = support::failure_of([&] { guard.check_execution(); });
    ASSERT_TRUE(failure) << file;
    EXPECT_EQ(failure->status(), status) << failure->text();
  }
}

ISOLATED_TEST(Guard, NothingRunsBeforeTheStart) {
  const TempDir folder;
  {
    Guarded guarded("echo >" + folder.file("ran"));
    EXPECT_EQ(guarded.guard().phase(), CommandPhase::idle);
    EXPECT_FALSE(guarded.guard().gone());
    EXPECT_EQ(descendants_of(getpid()).size(), 1u);
  }
  EXPECT_TRUE(nothing_is_left());
  EXPECT_FALSE(support::exists(folder.file("ran")));
}

ISOLATED_TEST(Guard, FrozenOneIsNoHindranceBeforeTheStart) {
  Guarded guarded("exit");
  ::kill(guarded.guard_pid(), SIGSTOP);
  guarded.end();
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, ReportsThatTheCommandWasStoppedAndContinued) {
  Guarded guarded("kill -STOP $$; exit 3");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::stopped));
  guard.forward(SIGCONT);
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 3);
}

ISOLATED_TEST(Guard, ContinuedCommandRunsAgain) {
  Guarded guarded("kill -TSTP $$; sleep 300");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::stopped));
  guard.forward(SIGCONT);
  EXPECT_TRUE(guarded.until_phase(CommandPhase::running));
}

ISOLATED_TEST(Guard, PassesEverySignalOnToTheCommand) {
  const TempDir folder;
  Guarded guarded("for s in HUP INT QUIT TERM USR1 USR2 WINCH TSTP; do trap \"echo $s >>" + folder.file("got") +
                  "\" $s; done; echo >" + folder.file("ready") + "; while :; do sleep 0.01; done");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  std::string expected;
  const std::pair<int, const char*> signals[] = {{SIGHUP, "HUP"},     {SIGINT, "INT"},   {SIGQUIT, "QUIT"},
                                                 {SIGTERM, "TERM"},   {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"},
                                                 {SIGWINCH, "WINCH"}, {SIGTSTP, "TSTP"}};
  for (const auto& [signal, name] : signals) {
    guard.forward(signal);
    expected += std::string(name) + "\n";
    EXPECT_TRUE(wait_until([&] { return support::contents_of(folder.file("got")) == expected; })) << name;
  }
}

ISOLATED_TEST(Guard, SignalIsForTheCommandAloneNotForItsChildren) {
  const TempDir folder;
  Guarded guarded("trap 'exit 5' TERM; (trap 'echo >" + folder.file("wrong") + "; exit' TERM; echo >" +
                  folder.file("ready") + "; sleep 300 & wait) & while :; do sleep 0.01; done");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  guard.forward(SIGTERM);
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 5);
  EXPECT_FALSE(support::exists(folder.file("wrong")));
  guard.finish(0ms);
  EXPECT_TRUE(guarded.until_gone());
}

ISOLATED_TEST(Guard, CommandRunsInTheCallersGroupAndTheGuardInItsOwn) {
  const TempDir folder;
  Guarded guarded("ps -o pgid= -p $$ >" + folder.file("group"));
  EXPECT_TRUE(wait_until([&] { return getpgid(guarded.guard_pid()) == guarded.guard_pid(); }));
  guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(std::atoi(support::contents_of(folder.file("group")).c_str()), getpgrp());
}

ISOLATED_TEST(Guard, SignalsOfATerminalDoNotEndIt) {
  Guarded guarded("exit 4");
  const std::string status = fmt::format("/proc/{}/status", guarded.guard_pid());
  ASSERT_TRUE(wait_until([&] { return support::contents_of(status).find("SigBlk:\tffff") != std::string::npos; }));
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGUSR1, SIGPIPE}) {
    ::kill(guarded.guard_pid(), signal);
  }
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 4);
}

ISOLATED_TEST(Guard, FinishAsksFirstAndKillsTheWholeTreeAfterTheGrace) {
  const TempDir folder;
  Guarded guarded("trap 'echo >" + folder.file("asked") + "' TERM; (trap '' TERM; sleep 300 | sleep 301) & " +
                  "setsid sh -c 'trap \"\" TERM; echo >" + folder.file("ready") +
                  "; while :; do sleep 1; done' & while :; do sleep 0.01; done");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  const Deadline earliest = deadline_in(1s);
  guard.finish(1s);
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_GE(BootClock::now(), earliest);
  EXPECT_TRUE(support::exists(folder.file("asked")));
  EXPECT_EQ(WTERMSIG(guard.wait_status()), SIGKILL);
  EXPECT_EQ(descendants_of(getpid()).size(), 1u);  // the guard
}

ISOLATED_TEST(Guard, FinishDoesNotWaitForTheGraceWhenAllObey) {
  Guarded guarded("sleep 300 | sleep 301");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([] { return descendants_of(getpid()).size() == 4; }));
  guard.finish(1h);
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_EQ(WTERMSIG(guard.wait_status()), SIGTERM);
}

ISOLATED_TEST(Guard, FinishReachesAStoppedCommand) {
  Guarded guarded("trap 'exit 6' TERM; kill -STOP $$; sleep 300");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::stopped));
  guard.finish(1h);
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 6);
}

ISOLATED_TEST(Guard, FinishEndsWhatAnEndedCommandLeftBehind) {
  const TempDir folder;
  Guarded guarded("(trap '' TERM; sleep 300) & echo $! >" + folder.file("pid") + "; exit 2");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  const pid_t left = pid_in(folder.file("pid"));
  EXPECT_TRUE(is_alive(left));
  guard.finish(50ms);
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_FALSE(is_alive(left));
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 2);
}

ISOLATED_TEST(Guard, LeftoversOfAnOrdinaryEndRunOn) {
  const TempDir folder;
  Guarded guarded("sleep 300 & echo $! >" + folder.file("pid"));
  guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  guarded.guard().let_go();
  guarded.end();
  const auto left = descendants_of(getpid());
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.front().pid, pid_in(folder.file("pid")));
  EXPECT_TRUE(is_alive(left.front().pid));
  kill_descendants();
  EXPECT_TRUE(nothing_is_left());
}

// With --min-hold, zklock lives on past the last fence.
ISOLATED_TEST(Guard, LeftoversOfAnOrdinaryEndRunOnPastTheLastFence) {
  const TempDir folder;
  Guarded guarded("sleep 300 & echo $! >" + folder.file("pid"));
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  // Stops the guard, so that it does not see the fence before the leftovers are let go.
  ::kill(guarded.guard_pid(), SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return state_of(guarded.guard_pid()) == 'T'; }));
  guard.set_fence(BootClock::now() - 1s);
  guard.let_go();
  ::kill(guarded.guard_pid(), SIGCONT);
  EXPECT_FALSE(guarded.until([&] { return guard.killed(); }, 100ms));
  EXPECT_TRUE(is_alive(pid_in(folder.file("pid"))));
  guarded.end();
  kill_descendants();
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, LeftoversThatTheLockIsHeldForDieAtTheFence) {
  const TempDir folder;
  Guarded guarded("sleep 300 & echo $! >" + folder.file("pid"));
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  guard.set_fence(deadline_in(100ms));
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_TRUE(guard.fenced());
}

ISOLATED_TEST(Guard, TellsHowLongTheCommandOutlivedTheFence) {
  for (const auto late : {0s, 5s}) {
    Guarded guarded("trap '' TERM; sleep 300 & sleep 300");
    Guard& guard = guarded.start();
    ASSERT_TRUE(guarded.until_phase(CommandPhase::running));
    guard.set_fence(BootClock::now() + 50ms - late);
    ASSERT_TRUE(guarded.until_gone());
    EXPECT_GE(guard.overrun(), late - 50ms);
    EXPECT_LT(guard.overrun(), late + kBound / 4);
  }
}

ISOLATED_TEST(Guard, KilledAfterLettingGoItsLeftoversRunOn) {
  const TempDir folder;
  Guarded guarded("sleep 300 & echo $! >" + folder.file("pid"));
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  guard.let_go();
  ::kill(guarded.guard_pid(), SIGKILL);
  EXPECT_TRUE(guarded.until([&] { return guard.killed(); }));
  EXPECT_TRUE(is_alive(pid_in(folder.file("pid"))));
  kill_descendants();
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, PhaseIsGoneOnceTheLastLeftoverEnds) {
  const TempDir folder;
  Guarded guarded("sleep 300 & echo $! >" + folder.file("pid"));
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  EXPECT_FALSE(guard.gone());
  ::kill(pid_in(folder.file("pid")), SIGKILL);
  EXPECT_TRUE(guarded.until_gone());
}

// Hides the control groups, if that is allowed; if not, there are none.
void hide_control_groups() {
  if (unshare(CLONE_NEWNS) != 0) return;
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  mount("none", "/sys/fs/cgroup", "tmpfs", 0, nullptr);
}

ISOLATED_TEST(Guard, KilledItselfIsNoticedAndItsTreeEnded) {
  const TempDir folder;
  hide_control_groups();  // else the kernel ends the whole tree, daemons too
  Guarded guarded("trap '' TERM; (setsid sh -c 'echo $$ >" + folder.file("daemon") +
                  "; exec sleep 300' &); sleep 300 & echo >" + folder.file("ready") + "; sleep 300");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  EXPECT_FALSE(guard.killed());
  const pid_t daemon = pid_in(folder.file("daemon"));
  ::kill(guarded.guard_pid(), SIGKILL);
  EXPECT_TRUE(guarded.until([&] { return guard.killed(); }));
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_TRUE(descendants_of(getpid()).empty());
  EXPECT_FALSE(is_alive(daemon));
  ::kill(daemon, SIGKILL);
}

ISOLATED_TEST(Guard, KilledBeforeTheStartEndsTheWait) {
  Guarded guarded("exit");
  ::kill(guarded.guard_pid(), SIGKILL);
  try {
    guarded.until([] { return false; });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::internal);
  }
}

ISOLATED_TEST(Guard, LetGoWhileTheCommandRunsEndsTheTree) {
  const TempDir folder;
  Guarded guarded("trap '' TERM; (setsid sleep 300 &); echo >" + folder.file("ready") + "; sleep 300");
  guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  guarded.end();
  EXPECT_TRUE(nothing_is_left());
}

// Starts a process that stands for zklock: it starts `script` under a guard and stays.
pid_t start_zklock(const std::string& script) {
  become_subreaper();
  return support::start_process([script]() -> int {
    Guarded guarded(script);
    guarded.start();
    guarded.until([] { return false; }, 1h);
    return 0;
  });
}

ISOLATED_TEST(Guard, EndsTheWholeTreeWhenZklockIsKilled) {
  const TempDir folder;
  const pid_t zklock =
      start_zklock("trap '' TERM HUP; (setsid sleep 300 &); sleep 300 & echo >" + folder.file("ready") + "; sleep 300");
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  ::kill(zklock, SIGKILL);
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, EndsAStoppedCommandWhenZklockIsKilled) {
  const TempDir folder;
  const pid_t zklock = start_zklock("sleep 300 & echo $$ >" + folder.file("pid") + "; kill -STOP $$");
  ASSERT_NE(pid_in(folder.file("pid")), 0);
  ::kill(zklock, SIGKILL);
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, EndsLeftoversThatItWasFinishingWhenZklockIsKilled) {
  const TempDir folder;
  become_subreaper();
  const pid_t zklock = support::start_process([&]() -> int {
    Guarded guarded("(trap '' TERM; echo >" + folder.file("ready") + "; sleep 300) & exit 0");
    Guard& guard = guarded.start();
    wait_until([&] { return support::exists(folder.file("ready")); });
    guarded.until_phase(CommandPhase::ended);
    guard.finish(1h);
    ::kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_GT(zklock, 0);
  EXPECT_TRUE(nothing_is_left());
}

// A stopping consumer asks each of its workers, even one whose command has ended by itself.
ISOLATED_TEST(Guard, AskedToFinishAfterTheEndItLivesNoLongerThanZklock) {
  become_subreaper();
  const pid_t zklock = support::start_process([]() -> int {
    Guarded guarded("exit 0");
    Guard& guard = guarded.start();
    guarded.until_gone();
    guard.finish(1h);
    ::kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_GT(zklock, 0);
  EXPECT_TRUE(nothing_is_left());
}

// zklock may be killed during --min-hold, for example.
ISOLATED_TEST(Guard, LeftoversThatWereLetGoRunOnWhenZklockIsKilled) {
  const TempDir folder;
  become_subreaper();
  const pid_t zklock = support::start_process([&]() -> int {
    Guarded guarded("sleep 300 & echo $! >" + folder.file("left"));
    Guard& guard = guarded.start();
    guarded.until_phase(CommandPhase::ended);
    guard.let_go();
    folder.write("guard", fmt::format("{}\n", guarded.guard_pid()));
    for (;;) pause();
  });
  const pid_t guard = pid_in(folder.file("guard"));
  const pid_t left = pid_in(folder.file("left"));
  ::kill(zklock, SIGKILL);
  EXPECT_TRUE(wait_until([&] { return !is_alive(guard); }));
  EXPECT_TRUE(is_alive(left));
  kill_descendants();
  EXPECT_TRUE(nothing_is_left());
}

ISOLATED_TEST(Guard, LivesNoLongerThanZklockBeforeTheStart) {
  become_subreaper();
  const pid_t zklock = support::start_process([]() -> int {
    Guarded guarded("exit");
    ::kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_GT(zklock, 0);
  EXPECT_TRUE(nothing_is_left());
}

// A pipe that zklock was given belongs to the command alone.
ISOLATED_TEST(Guard, HoldsNoDescriptorOnceTheCommandRuns) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Guarded guarded("sleep 300 >/dev/null & exec >&- 2>&-; exit");
  close(ends[1]);
  guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::ended));
  pollfd end{ends[0], POLLIN, 0};
  // The leftover has inherited the pipe; the guard must not be the last process that holds it.
  EXPECT_EQ(::poll(&end, 1, 0), 0);
  for (const Process process : descendants_of(guarded.guard_pid())) ::kill(process.pid, SIGKILL);
  EXPECT_EQ(::poll(&end, 1, 10'000), 1);
  EXPECT_TRUE(is_alive(guarded.guard_pid()));
  EXPECT_TRUE(guarded.until_gone());
}

ISOLATED_TEST(Guard, NoDescriptorOfOursReachesTheCommand) {
  const TempDir folder;
  const auto list = [&](const char* name) { return "exec ls /proc/self/fd >" + folder.file(name); };
  support::run_process([&] { return execl("/bin/sh", "sh", "-c", list("plain").c_str(), nullptr); });
  Guarded guarded(list("guarded"));
  guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(support::contents_of(folder.file("guarded")), support::contents_of(folder.file("plain")));
}

constexpr const char* kShowSignals = "exec grep -E '^Sig(Blk|Ign|Pnd)|^ShdPnd' /proc/self/status";

ISOLATED_TEST(Guard, CommandGetsTheOriginalMaskAndDispositions) {
  const TempDir folder;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);
  const auto plain = support::run_process([] { return execl("/bin/sh", "sh", "-c", kShowSignals, nullptr); });
  const Inherited inherited = Inherited::take_over();
  Signals signals;
  signals.take_job_control();
  ::kill(getpid(), SIGTERM);  // pending, for zklock only
  Guarded guarded(kShowSignals + (" >" + folder.file("status")), inherited);
  guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(support::contents_of(folder.file("status")), plain.output);
}

ISOLATED_TEST(Guard, BrokenPipesEndTheCommandAsUsual) {
  Guarded guarded("kill -PIPE $$; exit 1");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WTERMSIG(guard.wait_status()), SIGPIPE);
}

ISOLATED_TEST(Guard, DescriptorsThatWereClosedAreClosedForTheCommand) {
  const TempDir folder;
  close(STDIN_FILENO);
  const Inherited inherited = Inherited::take_over();
  EXPECT_GE(fcntl(STDIN_FILENO, F_GETFD), 0);
  Guarded guarded("[ ! -e /proc/$$/fd/0 ] && [ -e /proc/$$/fd/1 ]", inherited);
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 0);
}

ISOLATED_TEST(Guard, CommandGetsItsVariables) {
  setenv("ZKLOCK_PATH", "/outer", 1);
  setenv("KEPT", "kept", 1);
  Guarded guarded("[ \"$ZKLOCK_PATH|$ZKLOCK_TOKEN|$KEPT\" = '/inner|7|kept' ]");
  Guard& guard = guarded.start({"ZKLOCK_PATH=/inner", "ZKLOCK_TOKEN=7"});
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 0);
}

ISOLATED_TEST(Guard, VariablesOfAnyLengthArriveOrAreRefused) {
  for (const size_t length : {1'000u, 50'000u, 90'000u, 110'000u, 125'000u, 300'000u}) {
    Guarded guarded(fmt::format("[ ${{#A}} -eq {0} ] && [ ${{#B}} -eq {0} ]", length));
    const auto refused = support::failure_of([&] {
      guarded.start({"A=" + std::string(length, 'a'), "B=" + std::string(length, 'b')});
      EXPECT_TRUE(guarded.until_gone()) << length;
      guarded.guard().check_execution();
      EXPECT_EQ(WEXITSTATUS(guarded.guard().wait_status()), 0) << length;
    });
    EXPECT_TRUE(length > 50'000 || !refused) << length;
  }
}

ISOLATED_TEST(Guard, ProcessThatMayNotBeSignalledIsNamed) {
  const TempDir folder;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  chmod(folder.path().c_str(), 0777);
  become_subreaper();
  ASSERT_EQ(system(("cp \"$(command -v setpriv)\" " + folder.file("become-root") + " && chmod 4755 " +
                    folder.file("become-root"))
                       .c_str()),
            0);
  const pid_t zklock = support::start_process([&]() -> int {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 1;
    prctl(PR_SET_DUMPABLE, 1);  // else a /proc with hidepid hides us from ourselves
    Guarded guarded(folder.file("become-root") + " --reuid=0 sh -c 'echo $$ >" + folder.file("pid") +
                    "; exec sleep 300'");
    Guard& guard = guarded.start();
    const pid_t stubborn = pid_in(folder.file("pid"));
    guard.finish(0ms);
    const bool named = guarded.until([&] { return guard.stubborn() == stubborn; });
    _exit(named && stubborn > 0 ? 0 : 2);
  });
  int wait_status = 0;
  EXPECT_TRUE(wait_until([&] { return waitpid(zklock, &wait_status, WNOHANG) == zklock; }));
  EXPECT_EQ(wait_status, 0);
  kill_descendants();
  EXPECT_TRUE(nothing_is_left());
}

// After the end no signal is sent, and the outcome stays.
ISOLATED_TEST(Guard, SignalsAfterTheEndChangeNothing) {
  Guarded guarded("exit 9");
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  guard.forward(SIGKILL);
  guard.finish(0ms);
  EXPECT_TRUE(wait_until([&] { return guard.phase() == CommandPhase::gone; }));
  EXPECT_EQ(WEXITSTATUS(guard.wait_status()), 9);
  guarded.end();
  EXPECT_TRUE(nothing_is_left());
}

// zklock may be frozen between its order and the guard.
ISOLATED_TEST(Guard, PastTheFenceNothingIsStarted) {
  const TempDir folder;
  Guarded guarded("echo >" + folder.file("ran"));
  guarded.guard().set_fence(BootClock::now() - 1ms);
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_TRUE(guard.fenced());
  EXPECT_EQ(guard.wait_status(), 0);  // else it ran, and was killed before it could do much
  EXPECT_FALSE(support::exists(folder.file("ran")));
}

ISOLATED_TEST(Guard, FinishAskedAgainNeverGivesMoreTime) {
  const TempDir folder;
  Guarded guarded("trap '' TERM; echo >" + folder.file("ready") + "; while :; do sleep 0.01; done");
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  guard.finish(100ms);
  guard.finish(1h);
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_EQ(WTERMSIG(guard.wait_status()), SIGKILL);
}

ISOLATED_TEST(Guard, TheGraceOfOneCommandIsNotThatOfTheNext) {
  const TempDir folder;
  const std::string script = "trap 'sleep 0.3; echo >" + folder.file("cleaned") + "; exit' TERM; echo >" +
                             folder.file("ready") + "; while :; do sleep 0.01; done";
  Guarded guarded("trap '' TERM; echo >" + folder.file("first") + "; while :; do sleep 0.01; done", inherited_once(),
                  Service::again);
  guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("first")); }));
  guarded.guard().finish(0ms);
  ASSERT_TRUE(guarded.until_gone());
  guarded.guard().start({{}, {"sh", "-c", script}});
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  guarded.guard().finish(1h);
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_TRUE(support::exists(folder.file("cleaned")));
}

ISOLATED_TEST(Guard, AskedToFinishAfterTheEndItDoesNotKillTheNext) {
  Guarded guarded("sleep 0.1; exit 7", inherited_once(), Service::again);
  ASSERT_TRUE(guarded.runs({}));
  ASSERT_TRUE(guarded.until_gone());
  const long rests = rests_of(guarded.guard_pid());
  guarded.guard().finish(0ms);
  ASSERT_TRUE(wait_until([&] { return rests_of(guarded.guard_pid()) > rests; }));
  ASSERT_TRUE(guarded.runs({}));
  ASSERT_TRUE(WIFEXITED(guarded.guard().wait_status()));
  EXPECT_EQ(WEXITSTATUS(guarded.guard().wait_status()), 7);
}

ISOLATED_TEST(Guard, OneThatCouldNotBeExecutedSaysNothingOfTheNext) {
  const TempDir folder;
  const std::string file = folder.write("job", "#!/bin/sh\nexit 3\n", 0755);
  Guarded guarded(Program::find({file}), inherited_once(), Service::again);
  chmod(file.c_str(), 0644);
  ASSERT_TRUE(guarded.runs({}));
  EXPECT_FALSE(guarded.guard().executed());
  chmod(file.c_str(), 0755);
  ASSERT_TRUE(guarded.runs({}));
  EXPECT_TRUE(guarded.guard().executed());
  EXPECT_EQ(WEXITSTATUS(guarded.guard().wait_status()), 3);
}

ISOLATED_TEST(Guard, IsToldOfAnEarlierFence) {
  Guarded guarded("exec sleep 300");
  guarded.guard().set_fence(deadline_in(1h));
  Guard& guard = guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::running));
  // Waits until the guard sleeps, up to the first fence.
  ASSERT_TRUE(wait_until([&] { return state_of(guarded.guard_pid()) == 'S'; }));
  guard.set_fence(BootClock::now());
  // zklock would take over later, but the loop does not turn.
  EXPECT_TRUE(wait_until([&] { return guard.phase() == CommandPhase::gone; }));
  EXPECT_TRUE(guard.fenced());
}

ISOLATED_TEST(Guard, ItsCommandDiesWithItBeforeZklockNotices) {
  Guarded guarded("exec sleep 300");
  guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::running));
  const auto tree = descendants_of(guarded.guard_pid());
  ASSERT_EQ(tree.size(), 1u);
  ::kill(guarded.guard_pid(), SIGKILL);
  EXPECT_TRUE(wait_until([&] { return !is_alive(tree.front().pid); }));
}

// They may be a script's, whose last command is `exec zklock …`.
ISOLATED_TEST(Guard, KilledItselfTheChildrenOfWhoBecameZklockAreSpared) {
  const pid_t job = support::start_process([]() -> int { return execlp("sleep", "sleep", "300", nullptr); });
  Guarded guarded("exec sleep 300");
  guarded.start();
  ASSERT_TRUE(guarded.until_phase(CommandPhase::running));
  ::kill(guarded.guard_pid(), SIGKILL);
  ASSERT_TRUE(guarded.until_gone());
  EXPECT_TRUE(guarded.guard().killed());
  EXPECT_TRUE(is_alive(job));
  ::kill(job, SIGKILL);
}

// Stands for zklock while a debugger holds its guard: writes the guard's pid, and waits for `go`. 0: success.
int run_held_guard(const TempDir& folder) {
  Guarded guarded("exec sleep 300");
  Guard& guard = guarded.start();
  if (!guarded.until_phase(CommandPhase::running)) return 1;
  folder.write("guard", fmt::format("{}\n", guarded.guard_pid()));
  if (!wait_until([&] { return support::exists(folder.file("go")); })) return 2;
  guard.set_fence(deadline_in(50ms));
  if (!guarded.until_woken([&] { return guard.gone(); })) return 3;
  return guard.killed() && !guard.fenced() ? 0 : 4;
}

// No signal stops the guard, so only the fence counts.
ISOLATED_TEST(Guard, OneThatIsHeldByADebuggerIsTakenOverAtTheFence) {
  const TempDir folder;
  become_subreaper();
  const pid_t zklock = support::start_process([&] { return run_held_guard(folder); });
  const pid_t guard = pid_in(folder.file("guard"));
  int wait_status = 0;
  if (ptrace(PTRACE_SEIZE, guard, nullptr, nullptr) != 0) {
    ::kill(zklock, SIGKILL);
    EXPECT_TRUE(nothing_is_left());
    GTEST_SKIP() << "nobody may debug here: " << std::strerror(errno);
  }
  ptrace(PTRACE_INTERRUPT, guard, nullptr, nullptr);
  ASSERT_TRUE(wait_until([&] { return waitpid(guard, &wait_status, WNOHANG | __WALL) == guard; }));
  folder.write("go", "");
  EXPECT_TRUE(wait_until([&] {
    waitpid(guard, nullptr, WNOHANG | __WALL);  // the debugger has to let it die
    return waitpid(zklock, &wait_status, WNOHANG) == zklock;
  }));
  EXPECT_EQ(wait_status, 0);
}

ISOLATED_TEST(Guard, ASignalThatMayNotBeSentIsNamed) {
  const TempDir folder;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  chmod(folder.path().c_str(), 0777);
  const std::string become = "cp \"$(command -v setpriv)\" " + folder.file("become-root");
  ASSERT_EQ(system((become + " && chmod 4755 " + folder.file("become-root")).c_str()), 0);
  const auto ended = support::run_process([&]() -> int {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 1;
    prctl(PR_SET_DUMPABLE, 1);  // else a /proc with hidepid hides us from ourselves
    Guarded guarded("exec " + folder.file("become-root") + " --reuid=0 sh -c 'echo $$ >" + folder.file("pid") +
                    "; while [ ! -e " + folder.file("go") + " ]; do sleep 0.01; done'");
    Guard& guard = guarded.start();
    if (pid_in(folder.file("pid")) == 0) return 2;
    guard.forward(SIGUSR1);
    int refused = 0;
    const bool named = guarded.until([&] { return (refused = guard.take_refused()) != 0; });
    folder.write("go", "");
    return named && refused == SIGUSR1 && guard.take_refused() == 0 && guarded.until_gone() ? 0 : 3;
  });
  EXPECT_EQ(ended.wait_status, 0);
}

// A worker of a queue does this.
ISOLATED_TEST(Guard, RunsOneCommandAfterTheOtherEachWithItsOwnInputAndArguments) {
  const TempDir folder;
  Guarded guarded("cat >$OUT; echo \"$1\" >>$OUT", inherited_once(), Service::again);
  for (int i = 0; i < 20; ++i) {
    const std::string file = fmt::format("{}/{}", folder.path(), i);
    const std::string script = "cat >$OUT; echo \"$1\" >>$OUT";
    ASSERT_TRUE(
        guarded.runs({{"OUT=" + file}, {"sh", "-c", script, "sh", fmt::format("word {}", i)}, fmt::format("{}\n", i)}));
    EXPECT_TRUE(guarded.guard().executed());
    EXPECT_EQ(support::contents_of(file), fmt::format("{0}\nword {0}\n", i));
  }
}

ISOLATED_TEST(Guard, TellsTheStatusesOfItsCommandsApart) {
  Guarded guarded("exit $STATUS", inherited_once(), Service::again);
  for (const int status : {0, 3, 0, 127, 4}) {
    ASSERT_TRUE(guarded.runs({{fmt::format("STATUS={}", status)}}));
    ASSERT_TRUE(WIFEXITED(guarded.guard().wait_status()));
    EXPECT_EQ(WEXITSTATUS(guarded.guard().wait_status()), status);
  }
}

ISOLATED_TEST(Guard, GivesAWorkersCommandNoTerminalInputAndAGroupOfItsOwn) {
  const TempDir folder;
  const std::string file = folder.path() + "/out";
  // This input is zklock's, and not for the command.
  dup2(open(folder.write("input", "ours").c_str(), O_RDONLY), STDIN_FILENO);
  Guarded guarded(
      "cat; readlink /proc/self/fd/0 >" + file + "; ps -o pgid= -p $$ | tr -d ' ' >>" + file + "; echo $$ >>" + file,
      inherited_once(), Service::again);
  ASSERT_TRUE(guarded.runs({}));
  const std::string content = support::contents_of(file);
  const std::string pid = content.substr(content.rfind('\n', content.size() - 2) + 1);
  EXPECT_EQ(content, "/dev/null\n" + pid + pid);
}

// A terminal would do the same.
ISOLATED_TEST(Guard, ASignalForAWorkersCommandIsForAllOfItsGroup) {
  const TempDir folder;
  Guarded guarded("(trap 'echo >" + folder.file("got") + "; exit' TERM; echo >" + folder.file("ready") +
                      "; while :; do sleep 0.01; done) & wait",
                  inherited_once(), Service::again);
  Guard& guard = guarded.start();
  ASSERT_TRUE(wait_until([&] { return support::exists(folder.file("ready")); }));
  guard.forward(SIGTERM);
  EXPECT_TRUE(wait_until([&] { return support::exists(folder.file("got")); }));
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_EQ(WTERMSIG(guard.wait_status()), SIGTERM);
}

ISOLATED_TEST(Guard, WhatAWorkersCommandLeavesBehindRunsOnAndTheNextOneRuns) {
  const TempDir folder;
  const std::string file = folder.path() + "/pid";
  Guarded guarded("sleep 60 </dev/null >/dev/null 2>&1 & echo $! >$OUT", inherited_once(), Service::again);
  ASSERT_TRUE(guarded.runs({{"OUT=" + file}}));
  ASSERT_TRUE(guarded.runs({{"OUT=" + file + "2"}}));
  EXPECT_TRUE(is_alive(pid_in(file)));
  const pid_t second = pid_in(file + "2");
  guarded.end();
  EXPECT_TRUE(is_alive(second));
  kill(pid_in(file), SIGKILL);
  kill(second, SIGKILL);
}

ISOLATED_TEST(Guard, KilledItselfTheTreeOfALaterCommandIsEndedThoughTheFirstWasLetGo) {
  const TempDir folder;
  const std::string file = folder.path() + "/pid";
  hide_control_groups();
  Guarded guarded("[ \"$OUT\" ] || exit 0; sleep 300 & echo $! >$OUT.new; mv $OUT.new $OUT; exec sleep 300",
                  inherited_once(), Service::again);
  ASSERT_TRUE(guarded.runs({{"OUT="}}));
  guarded.start({"OUT=" + file});
  ASSERT_TRUE(wait_until([&] { return support::exists(file); }));
  ::kill(guarded.guard_pid(), SIGKILL);
  EXPECT_TRUE(guarded.until([&] { return guarded.guard().killed(); }));
  EXPECT_TRUE(guarded.until_gone());
  EXPECT_FALSE(is_alive(pid_in(file)));
  ::kill(pid_in(file), SIGKILL);
}

ISOLATED_TEST(Guard, EndsOnlyItsOwnCommandWhenItIsKilled) {
  Guarded first("sleep 60", inherited_once(), Service::again);
  Guarded second("exec sleep 60", inherited_once(), Service::again);
  const pid_t second_pid = second.guard_pid();
  first.guard().spare(second.guard());
  second.guard().spare(first.guard());
  first.start();
  second.start();
  ASSERT_TRUE(first.until_phase(CommandPhase::running));
  ASSERT_TRUE(second.until_phase(CommandPhase::running));
  kill(first.guard_pid(), SIGKILL);
  ASSERT_TRUE(first.until_gone());
  EXPECT_TRUE(first.guard().killed());
  EXPECT_TRUE(is_alive(second_pid));
  EXPECT_EQ(second.guard().phase(), CommandPhase::running);
}

// Otherwise a command outlives a killed zklock while the guard that was started after it lives.
ISOLATED_TEST(Guard, HoldsNoCopyOfAnothersChannel) {
  const TempDir folder;
  become_subreaper();  // the kernel continues a stopped guard that it finds orphaned
  const pid_t zklock = support::start_process([&]() -> int {
    Guarded first("exec sleep 60", inherited_once(), Service::again);
    Guarded second("exec sleep 60", inherited_once(), Service::again);
    first.start();
    second.start();
    if (!first.until_phase(CommandPhase::running) || !second.until_phase(CommandPhase::running)) return 1;
    ::kill(second.guard_pid(), SIGSTOP);
    if (!wait_until([&] { return state_of(second.guard_pid()) == 'T'; })) return 2;
    folder.write("second", fmt::format("{}\n", second.guard_pid()));
    folder.write("first", fmt::format("{}\n", descendants_of(first.guard_pid()).front().pid));
    for (;;) pause();
  });
  const pid_t command = pid_in(folder.file("first"));
  const pid_t second = pid_in(folder.file("second"));
  ::kill(zklock, SIGKILL);
  EXPECT_TRUE(wait_until([&] { return !is_alive(command); }));
  EXPECT_EQ(state_of(second), 'T');
  ::kill(second, SIGKILL);
  EXPECT_TRUE(nothing_is_left());
}

}  // namespace guard_test
}  // namespace zklock::host
