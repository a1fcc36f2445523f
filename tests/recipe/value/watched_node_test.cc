// SPDX-License-Identifier: Apache-2.0
// recipe/watched_node: what it asks, and what it notices. bats/value and bats/group show that nothing is reported twice
// or missed.
#include "recipe/watched_node.h"

#include "support/sandbox.h"

#include <string>

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace watched_node_test {

using namespace std::chrono_literals;

// A new session may be on a server that lags behind what was seen before.
TEST(WatchedNode, AsksForASyncOnceASession) {
  const std::string here = test::shared_servers() + test::new_chroot();
  test::Observer(here).create("/v", "text");
  host::Loop loop;
  zk::Session session(loop, test::options_for(here));
  for (const Aspect aspect : {Aspect::stat, Aspect::data, Aspect::children}) {
    WatchedNode node(session, "/v", aspect, "cannot watch /v");
    for (int i = 0; i < 2; ++i) {
      session.open();
      const auto questions = [&] {
        const uint64_t before = session.client().answers();
        node.look();
        return session.client().answers() - before;
      };
      EXPECT_EQ(questions(), 2u) << "session " << i;
      EXPECT_EQ(questions(), 1u) << "session " << i;
      session.close();
    }
  }
}

// Waiters look at each beat, too, so without this they would only be late.
TEST(WatchedNode, OneThatIsMissingIsStaleOnceItIsMade) {
  const std::string here = test::shared_servers() + test::new_chroot();
  test::Observer observer(here);
  host::Loop loop;
  zk::Session session(loop, test::options_for(here, 30s));
  session.open();
  for (const Aspect aspect : {Aspect::stat, Aspect::data, Aspect::children}) {
    const std::string path = "/v" + std::to_string(static_cast<int>(aspect));
    WatchedNode node(session, path, aspect, "cannot watch " + path);
    node.look();
    EXPECT_FALSE(node.exists());
    EXPECT_FALSE(node.is_stale());
    observer.create(path);
    EXPECT_TRUE(test::eventually(loop, [&] { return node.is_stale(); })) << path;
  }
}

}  // namespace watched_node_test
}  // namespace zklock::recipe
