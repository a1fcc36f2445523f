// SPDX-License-Identifier: Apache-2.0
// queue pull, to standard output and to a command, over a network that fails at a chosen moment. zklock is a process of
// its own.
#include "command/queue/pull.h"
#include "host/fd.h"
#include "support/queue_command.h"
#include "zk/timing.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::command {
namespace queue_pull_test {

using namespace std::chrono_literals;
using support::wait_until;
using test::FaultProxy;
using test::opcode::kCreate;
using test::opcode::kRead;
using test::opcode::kTransaction;

constexpr Duration kTimeout = 2s;

class PullWorkTest : public test::QueueCommandTest {
 protected:
  // Pulls one item for a command that records that it has run.
  void work() {
    WorkOptions options;
    options.pull.most = 1;
    work(options, "cat >>" + folder_.file("ran"), kTimeout);
  }
  void work(WorkOptions options, const std::string& command, Duration session_timeout) {
    options.pull.path = "/q";
    options.program = host::Program::find({"/bin/sh", "-c", command});
    start(session_timeout, [options](zk::SessionOptions session) {
      return work_on_items(std::move(session), options, host::Inherited::take_over());
    });
  }
  // Waits until it has claimed the first item, and until the proof of that would be old; its answer comes later.
  void claim_and_wait() {
    proxy_.fall_silent_after(kCreate);
    work();
    ASSERT_TRUE(wait_until([&] { return is_claimed(0); }));
    const Deadline old = deadline_in(zk::fence_of(kTimeout) - zk::usual_grace_of(kTimeout));
    ASSERT_TRUE(wait_until([&] { return BootClock::now() > old; }));
  }
  // Waits until the first command runs, the second one has ended, and the last item is claimed; the answer comes later.
  // The first command ends when there is a file "go".
  void work_beside_a_claim() {
    for (int i = 3; i < 10; ++i) observer_.remove(item(i));
    proxy_.fall_silent_after(kCreate);
    WorkOptions options;
    options.jobs = 2;
    options.pull.most = 3;
    work(options,
         "read -r it; echo $it >>" + folder_.file("ran") + "; until [ $it != 0 -o -e " + folder_.file("go") +
             " ]; do sleep 0.02; done",
         60s);
    ASSERT_TRUE(wait_until([&] { return is_claimed(2); }));
  }
  std::string ran() const { return support::contents_of(folder_.file("ran")); }
};

TEST_F(PullWorkTest, ACommandIsNotBegunOnAProofThatIsTooOld) {
  claim_and_wait();
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(ran(), "0");
  EXPECT_EQ(left(), 9u);
}

// The claim is deleted after zklock has proved it again, while it reads the item.
TEST_F(PullWorkTest, ACommandIsNotBegunForAnItemWhoseClaimHasGoneSinceItWasProved) {
  claim_and_wait();
  proxy_.fall_silent_after(kRead);
  proxy_.set(FaultProxy::Mode::pass);
  ASSERT_TRUE(wait_until([&] { return proxy_.is_silent(); }));
  observer_.remove(claim(0));
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(ran(), "0");
  EXPECT_EQ(left(), 9u);
}

// The first command runs on, so zklock has not ended yet; the second one has ended, so there is room for a third.
TEST_F(PullWorkTest, AfterTermNoCommandIsBegunForAnItemWhoseClaimWasOnItsWay) {
  work_beside_a_claim();
  ::kill(pid_, SIGTERM);
  proxy_.set(FaultProxy::Mode::pass);
  const auto has_run = [&] { return ran().find('2') != std::string::npos; };
  ASSERT_TRUE(wait_until([&] { return !is_claimed(2) || has_run(); }));
  folder_.write("go", "");
  EXPECT_NE(status(), 0);
  EXPECT_FALSE(has_run());
  EXPECT_EQ(left(), 1u);
}

TEST_F(PullWorkTest, AnItemWhoseClaimIsOnItsWayAtTheEndGoesBackUncounted) {
  work_beside_a_claim();
  ::kill(pid_, SIGTERM);
  folder_.write("go", "");
  std::this_thread::sleep_for(500ms);  // until the command has ended
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_NE(status(), 0);
  EXPECT_EQ(left(), 1u);
  EXPECT_EQ(recipe::attempts_of(observer_.read(item(2)).stat), 0);
}

class PullRetryTest : public PullWorkTest {
 protected:
  // Ends the session when the only item has failed and waits for its retry. The proxy ends it, so the lease is proved
  // to its end. zklock may take two items.
  void lose_session(const std::string& command) {
    for (int i = 1; i < 10; ++i) observer_.remove(item(i));
    observer_.create("/q/waiting");
    WorkOptions options;
    options.pull.most = 2;
    options.pull.idle = 20s;
    options.retry_delay = 1min;
    work(options, command, 4s);
    ASSERT_TRUE(wait_until([&] { return observer_.children("/q/waiting").size() == 1; }));
    proxy_.expire_resumed(true);
    proxy_.cut();
    ASSERT_TRUE(wait_until([&] { return proxy_.new_sessions() == 2; }));
  }
};

TEST_F(PullRetryTest, AnItemThatWaitsForItsRetryWhenTheSessionIsEndedHasFailed) {
  lose_session("test $(cat) != 0");
  observer_.create(item(1), "1");
  EXPECT_EQ(status(), 123) << failure();
  EXPECT_EQ(left(), 1u);
}

TEST_F(PullRetryTest, AnItemThatWaitsForItsRetryWhenTheSessionIsEndedIsTakenAgain) {
  lose_session("cat >>" + folder_.file("ran") + "; test $(cat " + folder_.file("ran") + ") != 0");
  observer_.remove(claim(0));
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(ran(), "00");
  EXPECT_EQ(left(), 0u);
}

// Prints to a reader that takes nothing until it is told to.
class PullPrintTest : public test::QueueCommandTest {
 protected:
  static constexpr size_t kPage = 4096;  // the pipe holds so much

  void SetUp() override {
    QueueCommandTest::SetUp();
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader_ = host::Fd(ends[0]);
    writer_ = host::Fd(ends[1]);
    fcntl(writer_.get(), F_SETPIPE_SZ, kPage);
  }
  void print(PullOptions options, Duration session_timeout) {
    options.path = "/q";
    start(session_timeout, [&](zk::SessionOptions session) {
      dup2(writer_.get(), STDOUT_FILENO);
      writer_.reset();
      print_items(std::move(session), options);
      return 0;
    });
    writer_.reset();
  }
  // Prints the first item, which only partly fits into the pipe.
  void print_long(Duration session_timeout, bool follow = false) {
    observer_.write(item(0), std::string(2 * kPage, 'x'));
    PullOptions options;
    if (!follow) options.most = 1;
    options.follow = follow;
    print(options, session_timeout);
    ASSERT_TRUE(wait_until([&] { return waiting() == kPage; }));
  }
  // Prints all items, each of so many bytes.
  void print_all(size_t size, Duration session_timeout) {
    for (int i = 0; i < 10; ++i) observer_.write(item(i), text(i, size));
    PullOptions options;
    options.all = true;
    print(options, session_timeout);
  }
  static std::string text(int number, size_t size) { return std::string(size, static_cast<char>('0' + number)); }
  void wait_in_line(Duration idle, size_t most) {
    for (int i = 0; i < 10; ++i) observer_.remove(item(i));
    observer_.create("/q/waiting");
    PullOptions options;
    options.most = most;
    options.idle = idle;
    print(options, 60s);
    ASSERT_TRUE(wait_until([&] { return observer_.children("/q/waiting").size() == 1; }));
  }
  // Returns the number of bytes in the pipe.
  size_t waiting() const {
    int bytes = 0;
    ioctl(reader_.get(), FIONREAD, &bytes);
    return static_cast<size_t>(bytes);
  }
  std::string read_bytes(size_t most) {
    std::string bytes(most, '\0');
    const ssize_t length = read(reader_.get(), bytes.data(), most);
    bytes.resize(length > 0 ? static_cast<size_t>(length) : 0);
    return bytes;
  }
  std::string read_to_end() {
    std::string all;
    for (std::string bytes = read_bytes(kPage); !bytes.empty(); bytes = read_bytes(kPage)) all += bytes;
    return all;
  }
  void expect_loss(const std::string& why) {
    EXPECT_EQ(status(), 76);
    EXPECT_NE(failure().find(why), std::string::npos) << failure();
  }

  host::Fd reader_, writer_;
};

TEST_F(PullPrintTest, AnItemThatWasTornWhenTheSessionEndedIsSaidToBe) {
  print_long(30s);
  proxy_.expire_resumed(true);
  proxy_.cut();
  expect_loss("the claim was lost while an item was written");
}

TEST_F(PullPrintTest, AnItemThatWasTornWhenItsClaimWasDeletedIsSaidToBe) {
  print_long(kTimeout);
  observer_.remove(claim(0));
  expect_loss("the claim was lost while an item was written");
}

TEST_F(PullPrintTest, AnItemWhoseClaimWasDeletedBeforeItsRemovalIsSaidToComeAgain) {
  print_long(60s);
  observer_.remove(claim(0));
  read_to_end();
  expect_loss("it will come again");
}

TEST_F(PullPrintTest, WhoFollowsSaysAtOnceWhatIsNotKnownToBeRemovedWhenTheSessionHasEnded) {
  print_long(60s, true);
  proxy_.fall_silent_after(kTransaction);
  for (size_t length = 0; length < 2 * kPage + 1;) length += read_bytes(kPage).size();
  ASSERT_TRUE(wait_until([&] { return proxy_.is_silent(); }));
  proxy_.expire_resumed(true);
  proxy_.cut();
  proxy_.set(FaultProxy::Mode::pass);
  expect_loss("not known to be removed");
}

// Four items fill the pipe. The next ones wait for the reader together; meanwhile another client has had one of them.
TEST_F(PullPrintTest, OfItemsThatWaitForTheReaderThoseAreNotWrittenWhoseClaimsHaveGone) {
  print_all(1000, 3s);
  ASSERT_TRUE(wait_until([&] { return waiting() == 4004 && is_claimed(5); }));
  observer_.remove(claim(5));
  observer_.remove(item(5));
  const Deadline old = deadline_in(zk::fence_of(3s) / 2);
  ASSERT_TRUE(wait_until([&] { return BootClock::now() > old; }));
  std::string expected;
  for (const int i : {0, 1, 2, 3, 4, 6, 7, 8, 9}) expected += text(i, 1000) + "\n";
  EXPECT_EQ(read_to_end(), expected);
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(left(), 0u);
}

// The items are claimed together, and written one by one.
TEST_F(PullPrintTest, WhatIsWrittenIsRemovedWhileTheReaderTakesNoMore) {
  print_all(2500, 60s);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(wait_until([&] { return waiting() == 2501; }));
    read_bytes(kPage);
  }
  ASSERT_TRUE(wait_until([&] { return waiting() == 2501; }));
  EXPECT_TRUE(wait_until([&] { return left() == 7; }));
  read_to_end();
  EXPECT_EQ(status(), 0) << failure();
}

TEST_F(PullPrintTest, TheLongestIdleTimeBeginsAnewWithEachItemThatWasWaitedFor) {
  constexpr Duration kIdle = 3s;
  wait_in_line(kIdle, 2);
  const Deadline began = BootClock::now();
  ASSERT_TRUE(wait_until([&] { return BootClock::now() > began + kIdle / 2; }));
  observer_.create(item(0), "0");
  ASSERT_TRUE(wait_until([&] { return BootClock::now() > began + kIdle; }));
  observer_.create(item(1), "1");
  EXPECT_EQ(read_to_end(), "0\n1\n");
  EXPECT_EQ(status(), 0) << failure();
}

TEST_F(PullPrintTest, ConnectingIsAPartOfTheLongestIdleTime) {
  proxy_.cut(true);
  PullOptions options;
  options.most = 1;
  options.idle = 300ms;
  const Deadline began = BootClock::now();
  print(options, 4s);
  EXPECT_EQ(status(), 69) << failure();
  EXPECT_LT(BootClock::now(), began + 10s);
}

}  // namespace queue_pull_test
}  // namespace zklock::command
