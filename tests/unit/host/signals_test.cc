// SPDX-License-Identifier: Apache-2.0
// host/signals: signals as data. Each test runs in a process of its own, whose signals it may change.
#include "host/signals.h"

#include "base/failure.h"
#include "support/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace signals_test {

using support::kBound;

// Returns what arrives next; the signal 0 if nothing arrives at once.
Arrival next(Loop& loop, Signals& signals) {
  loop.turn(BootClock::now());
  return signals.take().value_or(Arrival{0, false});
}

bool is_blocked(int signal) {
  sigset_t now;
  sigprocmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

void send_from_another_process(int signal) {
  const pid_t target = getpid();
  support::run_process([=] { return ::kill(target, signal); });
}

ISOLATED_TEST(Signals, AreKeptUntilTheyAreTaken) {
  Loop loop;
  Signals signals;
  const Attached receiving(loop, signals);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    ::kill(getpid(), signal);
    EXPECT_EQ(next(loop, signals).signal, signal);
    EXPECT_EQ(next(loop, signals).signal, 0);
  }
}

ISOLATED_TEST(Signals, ComeInTheOrderOfTheirTurns) {
  Loop loop;
  Signals signals;
  const Attached receiving(loop, signals);
  for (const int signal : {SIGUSR2, SIGTERM, SIGHUP}) {
    ::kill(getpid(), signal);
    loop.turn(deadline_in(kBound));
  }
  for (const int signal : {SIGUSR2, SIGTERM, SIGHUP}) EXPECT_EQ(signals.take()->signal, signal);
  EXPECT_FALSE(signals.take());
}

ISOLATED_TEST(Signals, ThatAreIgnoredDoNotAppearAndStayIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGTSTP, SIG_IGN);
  Loop loop;
  Signals signals;
  signals.take_job_control();
  const Attached receiving(loop, signals);
  ::kill(getpid(), SIGHUP);
  ::kill(getpid(), SIGTSTP);
  EXPECT_EQ(next(loop, signals).signal, 0);
  ::kill(getpid(), SIGTERM);
  EXPECT_EQ(next(loop, signals).signal, SIGTERM);
  EXPECT_EQ(::signal(SIGHUP, SIG_IGN), SIG_IGN);
}

ISOLATED_TEST(Signals, FromAnotherProcessHaveNotReachedTheGroup) {
  Loop loop;
  Signals signals;
  const Attached receiving(loop, signals);
  send_from_another_process(SIGTERM);
  const Arrival arrival = next(loop, signals);
  EXPECT_EQ(arrival.signal, SIGTERM);
  EXPECT_FALSE(arrival.reached_group);
}

ISOLATED_TEST(Signals, OfJobControlAreTakenOnlyWhenAskedFor) {
  Loop loop;
  Signals signals;
  const Attached receiving(loop, signals);
  for (const int signal : {SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH}) EXPECT_FALSE(is_blocked(signal));
  signals.take_job_control();
  for (const int signal : {SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH}) {
    send_from_another_process(signal);
    EXPECT_EQ(next(loop, signals).signal, signal);
  }
  send_from_another_process(SIGTERM);
  EXPECT_EQ(next(loop, signals).signal, SIGTERM);
}

ISOLATED_TEST(Signals, OwnContinueHasReachedTheGroup) {
  Loop loop;
  Signals signals;
  signals.take_job_control();
  const Attached receiving(loop, signals);
  continue_group();
  const Arrival arrival = next(loop, signals);
  EXPECT_EQ(arrival.signal, SIGCONT);
  EXPECT_TRUE(arrival.reached_group);
}

ISOLATED_TEST(Signals, EndAWaitOnceSoThatCleaningUpCanWaitToo) {
  Loop loop;
  Signals signals;
  EndOnSignal ending(signals);
  const Attached receiving(loop, signals);
  const Attached end(loop, ending);
  loop.turn(BootClock::now());
  ::kill(getpid(), SIGTERM);
  EXPECT_EQ(support::failure_of([&] { loop.turn(deadline_in(kBound)); })->signal(), SIGTERM);
  ::kill(getpid(), SIGINT);
  EXPECT_FALSE(support::failure_of([&] { loop.turn(deadline_in(kBound)); }));
  EXPECT_EQ(signals.take()->signal, SIGINT);
}

ISOLATED_TEST(Signals, ThatEndNobodyDoNotEndAWait) {
  Loop loop;
  Signals signals;
  signals.take_job_control();
  EndOnSignal ending(signals);
  const Attached receiving(loop, signals);
  const Attached end(loop, ending);
  for (const int signal : {SIGTSTP, SIGCONT, SIGTTOU, SIGWINCH}) {
    ::kill(getpid(), signal);
    EXPECT_FALSE(support::failure_of([&] { loop.turn(deadline_in(kBound)); })) << signal;
  }
  ::kill(getpid(), SIGUSR1);
  EXPECT_EQ(support::failure_of([&] { loop.turn(deadline_in(kBound)); })->signal(), SIGUSR1);
}

ISOLATED_TEST(Signals, OnlyThoseOfPeopleEndWhatIsNearlyDone) {
  Loop loop;
  Signals signals;
  EndOnSignal ending(signals, is_ending);
  const Attached receiving(loop, signals);
  const Attached end(loop, ending);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGALRM}) {
    ::kill(getpid(), signal);
    EXPECT_FALSE(support::failure_of([&] { loop.turn(deadline_in(kBound)); })) << signal;
  }
  ::kill(getpid(), SIGQUIT);
  EXPECT_EQ(support::failure_of([&] { loop.turn(deadline_in(kBound)); })->signal(), SIGQUIT);
}

// The first signal lets a running push end well, and the second cuts it off.
ISOLATED_TEST(Signals, TheFirstIsKeptAndTheSecondEndsIt) {
  Loop loop;
  Signals signals;
  EndOnSecondSignal second(signals);
  const Attached receiving(loop, signals);
  const Attached ending(loop, second);
  EXPECT_EQ(second.signal(), 0);
  ::kill(getpid(), SIGTERM);
  EXPECT_NO_THROW(loop.turn(BootClock::now()));
  EXPECT_EQ(second.signal(), SIGTERM);
  ::kill(getpid(), SIGINT);
  EXPECT_EQ(support::failure_of([&] { loop.turn(BootClock::now()); })->signal(), SIGINT);
}

TEST(Signals, DieOfIsADeathByThatSignalWithoutACore) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) {
    const auto ended = support::run_process([signal]() -> int {
      const Signals blocking;
      ::signal(SIGPIPE, SIG_IGN);
      die_of(signal);
    });
    ASSERT_TRUE(WIFSIGNALED(ended.wait_status)) << signal;
    EXPECT_EQ(WTERMSIG(ended.wait_status), signal);
    EXPECT_FALSE(WCOREDUMP(ended.wait_status));
  }
}

TEST(Signals, OnlySomeAreMeantToEndAProgram) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) EXPECT_TRUE(is_ending(signal)) << signal;
  for (const int signal : {SIGUSR1, SIGUSR2, SIGKILL, SIGSEGV, SIGALRM, SIGTSTP, SIGCONT, SIGWINCH}) {
    EXPECT_FALSE(is_ending(signal)) << signal;
  }
}

}  // namespace signals_test
}  // namespace zklock::host
