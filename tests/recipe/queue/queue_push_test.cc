// SPDX-License-Identifier: Apache-2.0
// queue push while a batch is on its way: a signal comes, the input ends, the session ends. zklock is a process of its
// own.
#include "command/start.h"
#include "host/fd.h"
#include "support/queue_command.h"

#include <fcntl.h>

#include <gtest/gtest.h>

namespace zklock::command {
namespace queue_push_test {

using support::wait_until;
using test::FaultProxy;
using test::opcode::kTransaction;

class PushTest : public test::QueueCommandTest {
 protected:
  void SetUp() override {
    QueueCommandTest::SetUp();
    for (int i = 0; i < 10; ++i) observer_.remove(item(i));
    observer_.create("/q/pushing");
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const host::Fd input(ends[0]);
    input_ = host::Fd(ends[1]);
    start(std::chrono::seconds(30), [&](const zk::SessionOptions&) {
      dup2(input.get(), STDIN_FILENO);
      input_.reset();
      dup2(open(folder_.write("said", "").c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
      std::string words[] = {"zklock", "queue", "push", "-S", through_proxy_, "/q"};
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ExitPolicy policy;
      return run_command_line(6, arguments.data(), host::Inherited::take_over(), policy);
    });
  }
  void feed(const std::string& lines) {
    ASSERT_EQ(write(input_.get(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  }
  // Feeds a line whose answer is delayed.
  void feed_in_silence(const std::string& line) {
    proxy_.fall_silent_after(kTransaction);
    feed(line);
    ASSERT_TRUE(wait_until([&] { return proxy_.is_silent(); }));
  }
  std::vector<std::string> items() {
    std::vector<std::string> texts;
    for (const std::string& item : recipe::item_paths(kSegment, observer_.children(kSegment))) {
      texts.push_back(observer_.read(item).data);
    }
    return texts;
  }
  using Texts = std::vector<std::string>;

  host::Fd input_;
};

TEST_F(PushTest, WhatComesBehindASignalIsNotPushedWhileABatchIsOnItsWay) {
  feed_in_silence("a\n");
  ::kill(pid_, SIGINT);
  feed("b\n");
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_NE(status(), 0);
  EXPECT_EQ(items(), Texts{"a"});
}

TEST_F(PushTest, TheEndOfTheInputIsWaitedForUntilAllIsIn) {
  proxy_.break_before(kTransaction);
  feed("a\n");
  input_.reset();
  ASSERT_TRUE(wait_until([&] { return proxy_.is_refusing(); }));
  proxy_.accept_again();
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(items(), Texts{"a"});
}

TEST_F(PushTest, WhatMayBeThereTwiceAfterTheSessionsEndIsSaid) {
  feed_in_silence("a\n");
  proxy_.expire_resumed(true);
  proxy_.cut();
  proxy_.set(FaultProxy::Mode::pass);
  input_.reset();
  EXPECT_EQ(status(), 0) << failure();
  EXPECT_EQ(items(), (Texts{"a", "a"}));
  EXPECT_EQ(support::contents_of(folder_.file("said")),
            "zklock: the session expired on the way: items 1 to 1 may be in /q twice\n");
}

}  // namespace queue_push_test
}  // namespace zklock::command
