// SPDX-License-Identifier: Apache-2.0
// recipe/value/subtree: what happens between the transactions by which a large tree is removed.
#include "recipe/value/subtree.h"

#include "support/fault_proxy.h"
#include "support/sandbox.h"
#include "zk/path.h"

#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace subtree_test {

using namespace std::chrono_literals;
using test::Script;

constexpr size_t kNodes = 3000;  // six transactions

class SubtreeTest : public testing::Test {
 protected:
  SubtreeTest() { session_.open(); }

  // Makes so many nodes below `path`.
  void plant(const std::string& path, size_t count) {
    others_.create(path + "/0");
    std::vector<zk::Call> calls;
    for (size_t i = 1; i < count; ++i) {
      calls.push_back(others_.session().client().create(fmt::format("{}/{}", path, i), "", zk::CreateMode::persistent));
    }
    for (const zk::Call& call : calls) others_.session().await(call);
  }

  // Calls it once, when the first nodes of the tree are gone.
  auto in_the_middle(const std::function<void()>& what) {
    return [this, what, done = false]() mutable {
      if (done || others_.children("/t").size() == kNodes) return;
      done = true;
      what();
    };
  }

  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Observer others_{here_};
  size_t removed_ = 0;
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_, 30s)};
};

TEST_F(SubtreeTest, NoneIsRemovedOnceTheLockIsLost) {
  others_.create("/held");
  plant("/t", kNodes);
  const Script script(loop_, in_the_middle([this] { others_.remove("/held"); }));
  const ValueChange change{ChangeKind::remove, "/t", "", -1, {"/held"}};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /t", removed_).end, ChangeEnd::unheld);
  EXPECT_GT(others_.children("/t").size(), 0u);
}

TEST_F(SubtreeTest, NoneIsRemovedOnceItHasAnotherVersion) {
  plant("/t", kNodes);
  const Script script(loop_, in_the_middle([this] { others_.write("/t", "new"); }));
  const ValueChange change{ChangeKind::remove_version, "/t", "", 0};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /t", removed_).end, ChangeEnd::differs);
  EXPECT_GT(others_.children("/t").size(), 0u);
}

// A server accepts a megabyte in a request.
TEST_F(SubtreeTest, LongPathsTakeMoreTransactions) {
  std::string deep = "/deep";
  for (const char part : {'a', 'b', 'c', 'd'}) deep += "/" + std::string(1000, part);
  plant(deep, 280);
  const ValueChange change{ChangeKind::remove, "/deep"};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /deep", removed_).end, ChangeEnd::done);
}

// Another client adds a node that makes it a tree of zklock's; the nodes that are gone by then are counted.
TEST_F(SubtreeTest, HowManyWereRemovedIsKnownWhenItIsRefusedOnTheWay) {
  plant("/t", kNodes);
  const Script script(loop_, in_the_middle([this] {
                        zk::Session& other = others_.session();
                        const zk::Call made = other.client().create("/t/mine", "", zk::CreateMode::ephemeral);
                        other.await(made);
                      }));
  const ValueChange change{ChangeKind::remove, "/t", "", -1, {}};
  try {
    remove_subtree(session_, change, "cannot delete /t", removed_);
    ADD_FAILURE() << "it was removed";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.text(), "cannot delete /t: /t/mine is ephemeral: it belongs to a session");
  }
  EXPECT_GT(removed_, 0u);
  EXPECT_EQ(others_.children("/t").size(), kNodes + 1 - removed_);
}

TEST_F(SubtreeTest, WhatWasRemovedIsCountedThoughTheAnswerIsLostAndThenTheLock) {
  test::FaultProxy proxy(test::shared_servers());
  zk::Session session(loop_, test::options_for(proxy.address() + here_.substr(here_.find('/')), 30s));
  session.open();
  others_.create("/held");
  plant("/t", 3);
  const Script script(loop_, [&, armed = false, lost = false]() mutable {
    // The first transaction comes before the lists, and asks about the lock.
    if (!armed && proxy.requests(test::opcode::kChildren) > 0) {
      armed = true;
      proxy.lose_answer_to(test::opcode::kTransaction);
    }
    if (!lost && proxy.lost() > 0) {
      lost = true;
      others_.remove("/held");
    }
  });
  const ValueChange change{ChangeKind::remove, "/t", "", -1, {"/held"}};
  EXPECT_EQ(remove_subtree(session, change, "cannot delete /t", removed_).end, ChangeEnd::unheld);
  EXPECT_EQ(removed_, 4u);
}

TEST_F(SubtreeTest, ASmallTreeThatIsWrittenAfterTheLookIsNotRemoved) {
  test::FaultProxy proxy(test::shared_servers());
  zk::Session session(loop_, test::options_for(proxy.address() + here_.substr(here_.find('/')), 30s));
  session.open();
  plant("/t", 3);
  bool written = false;
  const Script script(loop_, [&] {
    if (!proxy.is_silent() || std::exchange(written, true)) return;
    others_.write("/t", "new");
    proxy.set(test::FaultProxy::Mode::pass);
  });
  proxy.fall_silent_after(test::opcode::kExists);
  const ValueChange change{ChangeKind::remove_version, "/t", "", 0};
  EXPECT_EQ(remove_subtree(session, change, "cannot delete /t", removed_).end, ChangeEnd::differs);
  EXPECT_TRUE(written);
  EXPECT_EQ(others_.children("/t").size(), 3u);
}

}  // namespace subtree_test
}  // namespace zklock::recipe
