// SPDX-License-Identifier: Apache-2.0
// zk/session: the end of a session goes in the flight of the last request.
#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace ending_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::opcode::kEnd;

class EndingTest : public testing::Test {
 protected:
  EndingTest() {
    session_.open();
    session_.make_parents("/e");
    EXPECT_EQ(session_.await(session_.client().create("/e", "text", CreateMode::ephemeral)).code, Code::ok);
  }

  bool is_there() {
    Session other(loop_, test::options_for(test::shared_servers() + chroot_));
    other.open();
    return other.synced_read("/e").code == Code::ok;
  }

  std::string chroot_ = test::new_chroot();
  FaultProxy proxy_{test::shared_servers()};
  host::Loop loop_;
  Session session_{loop_, test::options_for(proxy_.address() + chroot_)};
};

TEST_F(EndingTest, TheLastRequestIsAnsweredAndTheSessionIsOver) {
  session_.make_node("/stays", CreateMode::persistent);
  const Call call = session_.client().remove("/stays");
  session_.end_behind();
  EXPECT_EQ(session_.await(call).code, Code::ok);
  session_.close();
  EXPECT_EQ(proxy_.requests(kEnd), 1);
  EXPECT_FALSE(is_there());
}

TEST_F(EndingTest, NothingIsSentBehindTheEnd) {
  session_.end_behind();
  session_.end_behind();
  const Call call = session_.client().exists("/e");
  EXPECT_TRUE(call->done);
  EXPECT_EQ(call->answer.code, Code::unknown);
  EXPECT_THROW(session_.exists("/e"), SessionOver);
  EXPECT_EQ(proxy_.requests(kEnd), 1);
  EXPECT_EQ(proxy_.requests(test::opcode::kExists), 0);
}

TEST_F(EndingTest, AReopenedSessionIsAnotherOne) {
  const int64_t before = session_.id();
  session_.end_behind();
  session_.reopen();
  EXPECT_NE(session_.id(), before);
  EXPECT_EQ(session_.exists("/e").code, Code::no_node);
}

TEST_F(EndingTest, AReadWhoseAnswerIsLostIsRepeatedInAnotherSession) {
  proxy_.lose_answer_to(test::opcode::kRead);
  const Answer root = read_and_end(session_, [this](bool last) {
    if (last) session_.set_last();
    return session_.synced_read("/");
  });
  EXPECT_EQ(root.code, Code::ok);
  EXPECT_EQ(proxy_.lost(), 1);
}

// ZOOKEEPER-4537. T is so long that the session's own beat would come too late.
TEST_F(EndingTest, AnAnswerThatTheServerKeepsComesBehindAPing) {
  proxy_.grant(30s);
  session_.reopen();
  proxy_.keep_answer_to(kEnd);
  const Deadline began = BootClock::now();
  const Call call = session_.client().exists("/");
  session_.end_behind();
  EXPECT_EQ(session_.await(call).code, Code::ok);
  session_.close();
  EXPECT_LT(BootClock::now() - began, 1s);
  EXPECT_EQ(proxy_.requests(test::opcode::kPing), 1);
}

TEST_F(EndingTest, AnAnswerToAWriteThatTheServerKeepsComesBehindARead) {
  proxy_.grant(30s);
  session_.reopen();
  proxy_.keep_answer_to(test::opcode::kCreate);
  const Deadline began = BootClock::now();
  EXPECT_EQ(session_.await(session_.client().create("/kept", "", CreateMode::ephemeral)).code, Code::ok);
  EXPECT_LT(BootClock::now() - began, 1s);
  EXPECT_EQ(proxy_.requests(test::opcode::kExists), 1);
}

}  // namespace ending_test
}  // namespace zklock::zk
