// SPDX-License-Identifier: Apache-2.0
// recipe/names: which family's node a name stands for. The names are those that the programs' sources make.
#include "recipe/names.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::recipe {
namespace names_test {

constexpr const char* kUuid = "_c_0f6b1b1e-9d0c-4b36-8a5e-3f1c2d4e5f60";
constexpr const char* kHex = "3f1c2d4e5f600f6b1b1e9d0c4b368a5e";

std::string protected_name(const std::string& rest) {
  return kUuid + rest;
}

std::string hex_name(const std::string& rest) {
  return kHex + rest;
}

TEST(Names, KnowsTheContendersOfAllFamilies) {
  const struct {
    std::string name;
    Family family;
    LockMode mode;
    int64_t number;
  } cases[] = {
      {protected_name("-lock-0000000007"), Family::standard, LockMode::exclusive, 7},
      {protected_name("-shared-lock-0000000008"), Family::standard, LockMode::shared, 8},
      {"_c_3f1c2d4e5f600f6b1b1e9d0c4b368a5e-lock-2147483646", Family::standard, LockMode::exclusive, 2147483646},  // Go
      {"x-72057594037927936-0000000012", Family::standard, LockMode::exclusive, 12},   // WriteLock
      {"x--72057594037927936-0000000012", Family::standard, LockMode::exclusive, 12},  // of a negative session id
      {"x-01000a1b2c3d0000-0000000012", Family::standard, LockMode::exclusive, 12},    // the C recipe
      {"ex0000000003", Family::standard, LockMode::exclusive, 3},                      // zk-ruby
      {protected_name("-__WRIT__0000000001"), Family::curator_rw, LockMode::exclusive, 1},
      {protected_name("-__READ__0000000002"), Family::curator_rw, LockMode::shared, 2},
      {hex_name("__lock__0000000003"), Family::kazoo, LockMode::exclusive, 3},
      {hex_name("__rlock__0000000004"), Family::kazoo, LockMode::shared, 4},
  };
  for (const auto& c : cases) {
    const auto contender = parse_contender(c.name);
    ASSERT_TRUE(contender) << c.name;
    EXPECT_EQ(contender->name, c.name);
    EXPECT_EQ(contender->family, c.family) << c.name;
    EXPECT_EQ(contender->mode, c.mode) << c.name;
    EXPECT_EQ(contender->number, c.number) << c.name;
    EXPECT_FALSE(may_be_foreign(c.name)) << c.name;
  }
}

TEST(Names, ProgramsThatWouldNotWaitForUsAreForeign) {
  const struct {
    std::string name;
    std::string maker;
  } cases[] = {
      {protected_name("-latch-0000000007"), "Curator's LeaderLatch"},
      {protected_name("-lease-0000000007"), "Curator's InterProcessSemaphoreV2"},
      {"latch-web1-0000000007", "the LeaderLatch of Rust's zookeeper crate"},
      {"n_0000000001", "ZooKeeper's LeaderElectionSupport"},
      {"sh0000000001", "zk-ruby's SharedLocker"},
      {"sem0000000001", "zk-ruby's Semaphore"},
      {"ballot0000000001", "zk-ruby's Election"},
      {hex_name(""), "Kazoo's Semaphore"},
      {hex_name("__party__"), "Kazoo's Party"},
      {"lock-0000000001", ""},  // .NET's DistributedLock, among others
      {"read-0000000001", ""},
      {"lock_0000000001", ""},
      {"0000000001", ""},
      {"-0000000001", ""},
      {"web1-0000000003", ""},
      {"x-web1-0000000003", ""},
      {"my-lock-0000000003", ""},
      {protected_name("-my-lock-0000000003"), ""},
      {"_c_x-lock-0000000003", ""},
      {"job__lock__0000000003", ""},
      {"web10000000003", ""},
      {"job--000000003", ""},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(parse_contender(c.name)) << c.name;
    EXPECT_TRUE(may_be_foreign(c.name)) << c.name;
    EXPECT_EQ(maker_of(c.name), c.maker) << c.name;
  }
}

TEST(Names, OtherChildrenAreNothing) {
  for (const char* name : {"",
                           "-",
                           "__",
                           "n_",
                           "sh",
                           "items",
                           "leases",
                           "waiting",
                           "config.json",
                           "lock-",
                           "lock-x",
                           "lock-1",
                           "lock-000000001x",
                           "lock-0000000001-",
                           "lock-0000000001.last",
                           "lock-0x00000001",
                           "lock-\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4\xd9\xa5",
                           "\xff\xfe",
                           "lock-0000000001\n",
                           "__WRIT_000000001"}) {
    EXPECT_FALSE(parse_contender(name)) << name;
    EXPECT_FALSE(parse_slot(name)) << name;
    EXPECT_FALSE(may_be_foreign(name)) << name;
    EXPECT_EQ(maker_of(name), "") << name;
  }
}

TEST(Names, ReadsNegativeNumbersAsTheServerWritesThem) {
  for (const int64_t number : {-1L, -7L, -999999999L, -1000000000L, -2147483647L, -2147483648L}) {
    for (const std::string& stem : {protected_name("-lock-"), protected_name("-shared-lock-"),
                                    protected_name("-__WRIT__"), hex_name("__lock__"), std::string("x-7-")}) {
      const auto contender = parse_contender(stem + fmt::format("{:010}", number));
      ASSERT_TRUE(contender) << stem << number;
      EXPECT_EQ(contender->number, number) << stem;
    }
  }
}

TEST(Names, MinusInANameIsNoSignOfItsNumber) {
  EXPECT_EQ(number_in("a--0000000007"), 7);
  EXPECT_EQ(number_in("a-b-c-0000000007"), 7);
  EXPECT_EQ(number_in("x-5-0000000007"), 7);
  EXPECT_EQ(number_in("a__0000000007"), 7);
  EXPECT_EQ(number_in("a-2147483646"), 2147483646);
  for (const char* name : {"a-000000007", "a-b-00000000007", "a0000000007", "a_0000000007"}) {
    EXPECT_FALSE(number_in(name)) << name;
  }
}

}  // namespace names_test
}  // namespace zklock::recipe
