// SPDX-License-Identifier: Apache-2.0
// zk/addresses: which server is tried next.
#include "zk/addresses.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace addresses_test {

std::string current(const Addresses& addresses) {
  return to_string(addresses.current());
}

void fail(Addresses& addresses, bool lasting = false) {
  addresses.note_failure(current(addresses), lasting);
}

TEST(Addresses, AreTriedInOrderAndAllOfThemInARound) {
  for (size_t count = 1; count <= 4; ++count) {
    std::vector<Server> servers;
    for (size_t i = 0; i < count; ++i) servers.push_back({"10.0.0." + std::to_string(i), 1});
    Addresses addresses(servers);
    for (size_t round = 0; round < 3; ++round) {
      EXPECT_EQ(addresses.rounds(), round);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(current(addresses), to_string(servers[i]));
        fail(addresses);
      }
    }
  }
}

TEST(Addresses, ThatHaveFailedAreLeftOutUntilAnAnswer) {
  Addresses addresses({{"a", 1}, {"b", 1}, {"c", 1}});
  fail(addresses);
  fail(addresses);
  EXPECT_EQ(current(addresses), "c:1");
  addresses.note_answer();
  fail(addresses);
  EXPECT_EQ(current(addresses), "a:1");
  EXPECT_EQ(addresses.rounds(), 0U);
}

TEST(Addresses, ThatAreNewAreTriedFirst) {
  Addresses addresses({{"a", 1}, {"b", 1}, {"c", 1}});
  fail(addresses);
  fail(addresses);
  addresses.replace({{"c", 1}, {"d", 1}, {"b", 1}});
  EXPECT_EQ(current(addresses), "c:1");  // it is being tried
  fail(addresses);
  EXPECT_EQ(current(addresses), "d:1");
  EXPECT_FALSE(addresses.contains("a:1"));
  addresses.replace({{"e", 1}});
  EXPECT_EQ(current(addresses), "e:1");
}

// The servers move, and then the connection in use is lost.
TEST(Addresses, OneThatIsGoneMayFail) {
  Addresses addresses({{"a", 1}});
  addresses.replace({{"b", 1}});
  addresses.note_failure("a:1", false);
  EXPECT_EQ(current(addresses), "b:1");
  EXPECT_EQ(addresses.rounds(), 0U);
}

TEST(Addresses, OneUnderSeveralNamesIsTriedOnceAndMayBeAnyOfThem) {
  Addresses addresses({{"10.0.0.1", 1, "zk1"}, {"10.0.0.1", 1, "zk2"}, {"10.0.0.1", 2, "zk3"}, {"10.0.0.2", 2}});
  EXPECT_EQ(addresses.names(), (std::vector<std::string>{"zk1", "zk2"}));
  fail(addresses);
  EXPECT_EQ(addresses.names(), std::vector<std::string>{"zk3"});
  fail(addresses);
  EXPECT_EQ(addresses.names(), std::vector<std::string>{"10.0.0.2"});
}

TEST(Addresses, AllRefuseWhenEachHasTheLastTime) {
  Addresses addresses({{"a", 1}, {"b", 1}});
  fail(addresses, true);
  EXPECT_FALSE(addresses.all_refuse());
  fail(addresses, true);
  EXPECT_TRUE(addresses.all_refuse());
  fail(addresses);
  EXPECT_FALSE(addresses.all_refuse());
}

}  // namespace addresses_test
}  // namespace zklock::zk
