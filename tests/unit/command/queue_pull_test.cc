// SPDX-License-Identifier: Apache-2.0
// queue pull, to standard output and to a command, behind a network that fails at a chosen moment. zklock is a process
// of its own.
#include "base/failure.h"
#include "command/queue/pull.h"
#include "support/process.h"
#include "support/queue_worker.h"
#include "zk/timing.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::command {
namespace {

using namespace std::chrono_literals;
using support::wait_until;
using test::FaultProxy;
using test::opcode::kCreate;
using test::opcode::kRead;

constexpr Duration kTimeout = 2s;

class PullTest : public test::QueueOfTen {
 protected:
  ~PullTest() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // `pull` as zklock's main would call it, behind the proxy.
  void start(Duration session_timeout, const std::function<int(zk::SessionOptions)>& pull) {
    pid_ = support::start_process([&] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        return pull(test::options_for(through_proxy_, session_timeout));
      } catch (const Failure& failure) {
        folder_.write("failure", failure.text());
        return static_cast<int>(failure.status());
      }
    });
  }
  // The exit status; -1 if there is none in time.
  int status() {
    int wait_status = 0;
    if (!wait_until([&] { return waitpid(pid_, &wait_status, WNOHANG) == pid_; }, 20s)) return -1;
    pid_ = 0;
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  }
  std::string failure() const { return support::contents_of(folder_.file("failure")); }
  bool is_claimed(int number) { return observer_.read(claim(number)).code == zk::Code::ok; }

  support::TempDir folder_;
  pid_t pid_ = 0;
};

class PullWorkTest : public PullTest {
 protected:
  // One item, for a command that writes down that it has run.
  void work() {
    start(kTimeout, [this](zk::SessionOptions session) {
      WorkOptions options;
      options.pull.path = "/q";
      options.pull.most = 1;
      options.program = host::Program::find({"/bin/sh", "-c", "cat >>" + folder_.file("ran")});
      return work_on_items(std::move(session), options, host::Inherited::take_over());
    });
  }
  // Its claim on the first item is made, and it hears of that when the proof that this is has grown old.
  void claim_and_wait() {
    proxy_.fall_silent_after(kCreate);
    work();
    ASSERT_TRUE(wait_until([&] { return is_claimed(0); }));
    const Deadline old = deadline_in(zk::fence_of(kTimeout) - zk::usual_grace_of(kTimeout));
    ASSERT_TRUE(wait_until([&] { return BootClock::now() > old; }));
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

// It is deleted when zklock has found it, and before that proves it anew.
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

// An item longer than what the pipe to its reader takes, who takes nothing.
class PullPrintTest : public PullTest {
 protected:
  void SetUp() override {
    PullTest::SetUp();
    observer_.write(item(0), std::string(200'000, 'x'));
    ASSERT_EQ(pipe2(ends_, O_CLOEXEC), 0);
  }
  ~PullPrintTest() override {
    for (const int end : ends_) close(end);
  }
  void print(Duration session_timeout) {
    start(session_timeout, [this](zk::SessionOptions session) {
      dup2(ends_[1], STDOUT_FILENO);
      PullOptions options;
      options.path = "/q";
      options.most = 1;
      print_items(std::move(session), options);
      return 0;
    });
    ASSERT_TRUE(wait_until([&] { return is_full(); }));
  }
  bool is_full() const {
    pollfd end{ends_[1], POLLOUT, 0};
    return ::poll(&end, 1, 0) == 0;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(PullPrintTest, AnItemThatWasTornWhenTheSessionEndedIsSaidToBe) {
  print(30s);
  proxy_.expire_resumed(true);
  proxy_.cut();
  EXPECT_EQ(status(), 76);
  EXPECT_NE(failure().find("the claim was lost while an item was written"), std::string::npos) << failure();
}

TEST_F(PullPrintTest, AnItemThatWasTornWhenItsClaimWasDeletedIsSaidToBe) {
  print(kTimeout);
  observer_.remove(claim(0));
  EXPECT_EQ(status(), 76);
  EXPECT_NE(failure().find("the claim was lost while an item was written"), std::string::npos) << failure();
}

}  // namespace
}  // namespace zklock::command
