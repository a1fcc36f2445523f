// SPDX-License-Identifier: Apache-2.0
// recipe/watched_node: what it asks. That nothing is told twice or missed, bats/value and bats/group show.
#include "recipe/watched_node.h"

#include "support/sandbox.h"

#include <gtest/gtest.h>

namespace zklock::recipe {
namespace watched_node_test {

using namespace std::chrono_literals;

// A new session may be on a server that is behind what was seen before.
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

}  // namespace watched_node_test
}  // namespace zklock::recipe
