// SPDX-License-Identifier: Apache-2.0
// host/loop: the one place that waits.
#include "host/loop.h"

#include "base/failure.h"
#include "host/fd.h"
#include "support/process.h"

#include <csignal>
#include <functional>
#include <string>
#include <sys/time.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace zklock::host {
namespace loop_test {

using namespace std::chrono_literals;
using support::kBound;

// Calls what a test gives it.
class Stub : public Source {
 public:
  void arm(PollSet& set) override {
    if (on_arm) on_arm(set);
  }
  void record(const PollSet& set) override {
    if (on_record) on_record(set);
  }
  void decide() override {
    if (on_decide) on_decide();
  }
  std::function<void(PollSet&)> on_arm;
  std::function<void(const PollSet&)> on_record;
  std::function<void()> on_decide;
};

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    reader = Fd(ends[0]);
    writer = Fd(ends[1]);
  }
  void fill() const { EXPECT_EQ(write(writer.get(), "x", 1), 1); }
  Fd reader;
  Fd writer;
};

TEST(Loop, TurnEndsAtItsDeadlineAndNotBefore) {
  Loop loop;
  const Deadline until = deadline_in(20ms);
  loop.turn(until);
  EXPECT_GE(BootClock::now(), until);
  EXPECT_LT(BootClock::now(), until + kBound);
}

TEST(Loop, PastDeadlineIsOnlyALook) {
  Loop loop;
  const Pipe pipe;
  pipe.fill();
  Stub source;
  short seen = 0;
  source.on_arm = [&](PollSet& set) { set.watch(pipe.reader.get(), POLLIN); };
  source.on_record = [&](const PollSet& set) { seen = set.seen(pipe.reader.get()); };
  const Attached attached(loop, source);
  loop.turn(BootClock::now() - 1h);
  EXPECT_EQ(seen, POLLIN);
}

TEST(Loop, SourceThatWantsToWakeEarlierDoes) {
  Loop loop;
  Stub source;
  source.on_arm = [](PollSet& set) {
    set.wake_at(deadline_in(1ms));
    set.wake_at(deadline_in(1h));
  };
  const Attached attached(loop, source);
  const Deadline bound = deadline_in(kBound);
  loop.turn(kNever);
  EXPECT_LT(BootClock::now(), bound);
}

TEST(Loop, DescriptorsThatNobodyWatchesSawNothing) {
  Loop loop;
  const Pipe pipe;
  const Pipe other;
  pipe.fill();
  Stub source;
  source.on_arm = [&](PollSet& set) {
    set.watch(pipe.reader.get(), POLLIN);
    set.watch(other.reader.get(), POLLIN);
  };
  source.on_record = [&](const PollSet& set) {
    EXPECT_EQ(set.seen(pipe.reader.get()), POLLIN);
    EXPECT_EQ(set.seen(other.reader.get()), 0);
    EXPECT_EQ(set.seen(other.writer.get()), 0);
  };
  const Attached attached(loop, source);
  loop.turn(kNever);
}

TEST(Loop, EverySourceRecordsBeforeAnyDecides) {
  Loop loop;
  std::string order;
  Stub first;
  Stub second;
  first.on_record = second.on_record = [&](const PollSet&) { order += 'r'; };
  first.on_decide = second.on_decide = [&] { order += 'd'; };
  const Attached one(loop, first);
  const Attached two(loop, second);
  loop.turn(BootClock::now());
  EXPECT_EQ(order, "rrdd");
}

TEST(Loop, SourceThatWasRemovedByAnotherDoesNotDecide) {
  Loop loop;
  Stub first;
  Stub second;
  bool decided = false;
  first.on_decide = [&] { loop.remove(second); };
  second.on_decide = [&] { decided = true; };
  loop.add(first);
  loop.add(second);
  loop.turn(BootClock::now());
  EXPECT_FALSE(decided);
}

TEST(Loop, SourceMayLeaveOrJoinWhileDeciding) {
  Loop loop;
  Stub leaving;
  Stub joining;
  int turns = 0;
  int joined = 0;
  leaving.on_decide = [&] {
    ++turns;
    loop.remove(leaving);
    loop.add(joining);
  };
  joining.on_decide = [&] { ++joined; };
  loop.add(leaving);
  loop.turn(BootClock::now());
  loop.turn(BootClock::now());
  EXPECT_EQ(turns, 1);
  EXPECT_EQ(joined, 1);
}

TEST(Loop, FailureOfASourceEndsTheTurnAndLeavesTheLoopUsable) {
  Loop loop;
  Stub source;
  int decided = 0;
  source.on_decide = [&] {
    if (++decided == 1) throw Failure(ExitStatus::lost, "once");
  };
  const Attached attached(loop, source);
  EXPECT_EQ(support::failure_of([&] { loop.turn(BootClock::now()); })->status(), ExitStatus::lost);
  loop.turn(BootClock::now());
  EXPECT_EQ(decided, 2);
}

TEST(Loop, AttachedSourceLeavesWithItsScope) {
  Loop loop;
  Stub source;
  int decided = 0;
  source.on_decide = [&] { ++decided; };
  {
    const Attached attached(loop, source);
    loop.turn(BootClock::now());
  }
  loop.turn(BootClock::now());
  EXPECT_EQ(decided, 1);
}

TEST(Loop, EndOfAPipeIsSeen) {
  Loop loop;
  Pipe pipe;
  pipe.writer.reset();
  Stub source;
  short seen = 0;
  source.on_arm = [&](PollSet& set) { set.watch(pipe.reader.get(), POLLIN); };
  source.on_record = [&](const PollSet& set) { seen = set.seen(pipe.reader.get()); };
  const Attached attached(loop, source);
  loop.turn(kNever);
  EXPECT_TRUE(seen & POLLHUP);
}

ISOLATED_TEST(Loop, HandledSignalEndsATurnWithoutAnError) {
  static volatile sig_atomic_t handled = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { handled = 1; };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval soon{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  Loop loop;
  const Deadline until = deadline_in(kBound);
  EXPECT_NO_THROW(loop.turn(until));
  EXPECT_TRUE(handled);
  EXPECT_LT(BootClock::now(), until);
}

}  // namespace loop_test
}  // namespace zklock::host
