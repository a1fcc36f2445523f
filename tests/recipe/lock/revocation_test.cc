// SPDX-License-Identifier: Apache-2.0
// recipe/revocation against a real server, through a proxy that fails.
#include "recipe/lock/revocation.h"

#include "support/fault_proxy.h"
#include "support/sandbox.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace revocation_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

class Revocation : public testing::Test {
 protected:
  Revocation() {
    for (const std::string& node : nodes_) observer_.create(node, "a note");
    session_.open();
  }
  static Deadline soon() { return deadline_in(20s); }

  // Waits until the session is expired; then everything passes again.
  void expire() {
    proxy_.set(FaultProxy::Mode::silent);
    const Deadline back = deadline_in(3 * session_.timeout());
    while (BootClock::now() < back) loop_.turn(back);
    proxy_.set(FaultProxy::Mode::pass);
  }

  const Nodes nodes_ = {"/f/a", "/f/b"};
  std::string server_ = test::shared_servers();
  std::string chroot_ = test::new_chroot();
  test::Observer observer_{server_ + chroot_};
  FaultProxy proxy_{server_};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(proxy_.address() + chroot_, 500ms)};
};

TEST_F(Revocation, AskingIsWhatCuratorsRevokerDoes) {
  EXPECT_EQ(ask_to_let_go(session_, {"/f/a", "/f/gone", "/f/b"}), nodes_);
  for (const std::string& node : nodes_) EXPECT_EQ(observer_.read(node).data, "__REVOKE__");
}

TEST_F(Revocation, AWriteWhoseAnswerIsLostIsLookedForAndNotRepeated) {
  proxy_.lose_answer_to(test::opcode::kWrite);
  EXPECT_EQ(ask_to_let_go(session_, {"/f/a"}), Nodes{"/f/a"});
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), 1) << "looked for behind no barrier";
  EXPECT_EQ(observer_.read("/f/a").data, "__REVOKE__");
  EXPECT_EQ(observer_.read("/f/a").stat.version, 1);
}

TEST_F(Revocation, AWriteThatNeverArrivedIsRepeated) {
  proxy_.break_before(test::opcode::kWrite);
  const Script script(loop_, [&] {
    if (proxy_.is_refusing()) proxy_.accept_again();
  });
  EXPECT_EQ(ask_to_let_go(session_, nodes_), nodes_);
  for (const std::string& node : nodes_) EXPECT_EQ(observer_.read(node).stat.version, 1);
}

TEST_F(Revocation, ANewSessionDoesAsWell) {
  expire();
  EXPECT_EQ(ask_to_let_go(session_, nodes_), nodes_);
  expire();
  EXPECT_EQ(take_away(session_, nodes_), nodes_);
}

TEST_F(Revocation, WaitsUntilTheLastOneIsGone) {
  int removed = 0;
  const Script script(loop_, [&] {
    if (removed < 2) observer_.remove(nodes_[static_cast<size_t>(removed++)]);
  });
  EXPECT_EQ(wait_until_gone(session_, nodes_, soon()), Nodes());
  EXPECT_EQ(removed, 2);
}

TEST_F(Revocation, WhoIsLeftInTheEndIsNamed) {
  observer_.remove("/f/a");
  EXPECT_EQ(wait_until_gone(session_, nodes_, deadline_in(300ms)), Nodes{"/f/b"});
  EXPECT_EQ(wait_until_gone(session_, nodes_, BootClock::now()), nodes_);
}

TEST_F(Revocation, ANodeThatGoesWhileWeAreCutOffIsNotWaitedFor) {
  bool cut = false;
  const Script script(loop_, [&] {
    if (cut) return;
    cut = true;
    proxy_.cut();
    observer_.remove("/f/a");
    observer_.remove("/f/b");
  });
  EXPECT_EQ(wait_until_gone(session_, nodes_, soon()), Nodes());
  EXPECT_TRUE(cut);
}

TEST_F(Revocation, AWatchWhoseAnswerIsLostIsSetAgain) {
  proxy_.lose_answer_to(test::opcode::kExists);
  bool removed = false;
  const Script script(loop_, [&] {
    if (removed || session_.client().connections() < 2 || session_.client().silent_since() != kNever) return;
    removed = true;
    for (const std::string& node : nodes_) observer_.remove(node);
  });
  EXPECT_EQ(wait_until_gone(session_, nodes_, soon()), Nodes());
  EXPECT_TRUE(removed);
}

TEST_F(Revocation, ASessionThatExpiresWhileItWaitsIsReplaced) {
  const int64_t first = session_.id();
  Deadline back = kNever;
  const Script script(loop_, [&] {
    if (back == kNever) {
      proxy_.set(FaultProxy::Mode::silent);
      back = deadline_in(3 * session_.timeout());
    }
    if (BootClock::now() < back) return;
    proxy_.set(FaultProxy::Mode::pass);
    if (session_.connected() && session_.id() != first && !observer_.children("/f").empty()) {
      for (const std::string& node : nodes_) observer_.remove(node);
    }
  });
  EXPECT_EQ(wait_until_gone(session_, nodes_, soon()), Nodes());
  EXPECT_NE(session_.id(), first);
}

// A server ignores a connection whose session has moved to another one, so the delete must be done before.
TEST_F(Revocation, ADeleteWhoseAnswerIsLostCountsAsOurs) {
  bool lost = false;
  const Script script(loop_, [&] {
    if (lost || !proxy_.is_silent() || observer_.children("/f").size() > 1) return;
    lost = true;
    proxy_.cut();
    proxy_.set(FaultProxy::Mode::pass);
  });
  proxy_.fall_silent_after(test::opcode::kRemove);
  EXPECT_EQ(take_away(session_, {"/f/a", "/f/gone"}), Nodes{"/f/a"});
  EXPECT_TRUE(lost);
  EXPECT_EQ(observer_.children("/f"), std::vector<std::string>{"b"});
}

}  // namespace revocation_test
}  // namespace zklock::recipe
