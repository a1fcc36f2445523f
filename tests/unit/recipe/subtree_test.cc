// SPDX-License-Identifier: Apache-2.0
// recipe/value/subtree: what happens between the transactions by which a large tree is removed.
#include "recipe/value/subtree.h"

#include "support/sandbox.h"
#include "zk/path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace {

using namespace std::chrono_literals;
using test::Script;

constexpr size_t kNodes = 3000;  // six transactions

class SubtreeTest : public testing::Test {
 protected:
  SubtreeTest() {
    others_.create("/held");
    others_.create("/t/0", "");
    std::vector<zk::Call> calls;
    for (size_t i = 1; i < kNodes; ++i) {
      calls.push_back(others_.session().client().create("/t/" + std::to_string(i), "", zk::CreateMode::persistent));
    }
    for (const zk::Call& call : calls) others_.session().await(call, soon());
    session_.open(soon());
  }
  static Deadline soon() { return deadline_in(20s); }

  // Does it once, when the first of the tree are gone.
  auto in_the_middle(const std::function<void()>& what) {
    return [this, what, done = false]() mutable {
      if (done || others_.children("/t").size() == kNodes) return;
      done = true;
      what();
    };
  }

  std::string here_ = test::shared_servers() + test::new_chroot();
  test::Observer others_{here_};
  host::Loop loop_;
  zk::Session session_{loop_, test::options_for(here_, 30s)};
};

TEST_F(SubtreeTest, NoneIsRemovedOnceTheLockIsLost) {
  const Script script(loop_, in_the_middle([this] { others_.remove("/held"); }));
  const ValueChange change{ChangeKind::remove, "/t", "", -1, {"/held"}};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /t", soon()).end, ChangeEnd::unheld);
  EXPECT_GT(others_.children("/t").size(), 0u);
}

TEST_F(SubtreeTest, NoneIsRemovedOnceItHasAnotherVersion) {
  const Script script(loop_, in_the_middle([this] { others_.write("/t", "new"); }));
  const ValueChange change{ChangeKind::remove_version, "/t", "", 0};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /t", soon()).end, ChangeEnd::differs);
  EXPECT_GT(others_.children("/t").size(), 0u);
}

// A server takes a megabyte in a request.
TEST_F(SubtreeTest, LongPathsTakeMoreTransactions) {
  std::string deep = "/deep";
  for (const char part : {'a', 'b', 'c', 'd'}) deep += "/" + std::string(1000, part);
  others_.create(deep + "/0");
  std::vector<zk::Call> calls;
  for (int i = 1; i < 400; ++i) {
    calls.push_back(others_.session().client().create(fmt::format("{}/{}", deep, i), "", zk::CreateMode::persistent));
  }
  for (const zk::Call& call : calls) ASSERT_EQ(others_.session().await(call, soon()).code, zk::Code::ok);
  const ValueChange change{ChangeKind::remove, "/deep"};
  EXPECT_EQ(remove_subtree(session_, change, "cannot delete /deep", soon()).end, ChangeEnd::done);
}

}  // namespace
}  // namespace zklock::recipe
