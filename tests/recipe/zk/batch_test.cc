// SPDX-License-Identifier: Apache-2.0
// zk/batch: many requests at once, also while the connection is lost.
#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::zk {
namespace batch_test {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::Script;

class Batch : public testing::Test {
 protected:
  Batch() {
    Observer observer(server_ + chroot_);
    for (int i = 0; i < kNodes; ++i) observer.create(fmt::format("/f/{}", i), fmt::format("data {}", i));
    for (int i = 0; i < kNodes; ++i) paths_.push_back(fmt::format("/f/{}", i % 7 == 3 ? -1 : i));
    session_.open();
  }
  using Observer = test::Observer;

  void expect_all(const std::vector<Answer>& answers) {
    ASSERT_EQ(answers.size(), paths_.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      if (i % 7 == 3) {
        EXPECT_EQ(answers[i].code, Code::no_node) << i;
      } else {
        ASSERT_EQ(answers[i].code, Code::ok) << i;
        EXPECT_EQ(answers[i].data, fmt::format("data {}", i));
      }
    }
  }

  static constexpr int kNodes = 250;  // more than it asks about at a time

  std::string server_ = test::shared_servers();
  std::string chroot_ = test::new_chroot();
  FaultProxy proxy_{server_};
  std::vector<std::string> paths_;
  host::Loop loop_;
  Session session_{loop_, test::options_for(proxy_.address() + chroot_)};
};

TEST_F(Batch, AnswersAreInTheOrderOfThePaths) {
  expect_all(read_all(session_, paths_));
  EXPECT_TRUE(read_all(session_, {}).empty());
}

TEST_F(Batch, WhatIsLostWithTheConnectionIsAskedAgain) {
  int turns = 0;
  const Script script(loop_, [&] {
    if (++turns == 2 || turns == 4) proxy_.cut();
  });
  expect_all(read_all(session_, paths_));
  EXPECT_GE(proxy_.accepted(), 2);
}

// Answers of one server after the barrier, and of another one for the rest, are not true of any one moment.
TEST_F(Batch, StatsBehindABarrierComeThroughTheConnectionOfThat) {
  for (int round = 0;; ++round) {
    bool cut = false;
    const uint64_t answers = session_.client().answers();
    const auto connections = session_.client().connections();
    const int transactions = proxy_.requests(test::opcode::kTransaction);
    const Script script(loop_, [&] {
      if (cut || session_.client().answers() < answers + 2) return;
      cut = true;
      proxy_.cut();
    });
    const auto stats = settled_stat_all(session_, paths_);
    EXPECT_TRUE(cut);
    EXPECT_EQ(stats.size(), paths_.size());
    if (session_.client().connections() > connections) {
      EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), transactions + 2);
      return;
    }
    // On a busy machine all answers may have come before the connection was cut.
    ASSERT_LT(round, 20);
    session_.children("/");
  }
}

TEST_F(Batch, ABarrierWithoutAnAnswerIsNone) {
  constexpr int kThrottled = -127;
  proxy_.answer_with(test::opcode::kTransaction, kThrottled);
  settled_stat_all(session_, paths_);
  EXPECT_EQ(proxy_.requests(test::opcode::kTransaction), 2);
}

TEST_F(Batch, AsksForTheStatAndForTheChildrenOfTheRootToo) {
  const auto stats = stat_all(session_, {"/", "/f", "/none"});
  EXPECT_NE(stats[0].stat.created, 0);
  EXPECT_GT(stats[1].stat.created, stats[0].stat.created);
  EXPECT_EQ(stats[2].code, Code::no_node);
  const auto lists = children_all(session_, {"/", "/f"});
  EXPECT_EQ(lists[0].names, std::vector<std::string>{"f"});
  EXPECT_EQ(lists[1].names.size(), static_cast<size_t>(kNodes));
}

}  // namespace batch_test
}  // namespace zklock::zk
