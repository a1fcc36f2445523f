// SPDX-License-Identifier: Apache-2.0
// zk/path: which paths a server accepts.
#include "zk/path.h"

#include "support/process.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace path_test {

using namespace std::string_literals;

TEST(Path, GoodOnesAreGood) {
  for (const char* path :
       {"/a", "/locks/job", "/..a", "/a..", "/a/...", "/.hidden", "/a/.b", "/a b", "/grün/日本", "/a\\b", "/a:b,c[d]",
        "/zookeeperish", "/a/zookeeper", "/\xc2\xa0", "/\xef\xbf\xaf", "/%s%n", "/-n", "/a/items"}) {
    EXPECT_EQ(path_error(path), std::nullopt) << path;
    EXPECT_NO_THROW(check_path(path)) << path;
  }
}

TEST(Path, BadOnesAreRefusedWithTheirReason) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "empty"},
      {"locks/job", "begins with /"},
      {"./a", "begins with /"},
      {" /a", "begins with /"},
      {"/", "root"},
      {"//", "//"},
      {"//a", "//"},
      {"/a//b", "//"},
      {"/a/", "end with /"},
      {"/.", "relative names (.)"},
      {"/..", "relative names (..)"},
      {"/a/./b", "relative names (.)"},
      {"/a/../b", "relative names (..)"},
      {"/a/..", "relative names (..)"},
      {"/a\0b"s, "control character"},
      {"/a\x01", "control character"},
      {"/a\n", "control character"},
      {"/a\x1f", "control character"},
      {"/a\x7f", "control character"},
      {"/a\xc2\x80", "control character"},
      {"/a\xc2\x9f", "control character"},
      {"/a\xee\x80\x80", "ZooKeeper refuses"},  // U+E000
      {"/a\xef\xa3\xbf", "ZooKeeper refuses"},  // U+F8FF
      {"/a\xef\xbf\xb0", "ZooKeeper refuses"},  // U+FFF0
      {"/a\xef\xbf\xbd", "ZooKeeper refuses"},  // U+FFFD
      {"/a\xef\xbf\xbf", "ZooKeeper refuses"},  // U+FFFF
      {"/a\xff", "not UTF-8"},
      {"/a\xc3", "not UTF-8"},
      {"/a\xed\xa0\x80", "not UTF-8"},  // a surrogate
      {"/a\xc0\xaf", "not UTF-8"},      // an overlong slash
  };
  for (const auto& [path, reason] : cases) {
    const auto error = path_error(path);
    ASSERT_TRUE(error) << path;
    EXPECT_NE(error->find(reason), std::string::npos) << path << ": " << *error;
  }
}

// Java's strings hold a character above U+FFFF as two surrogates, which PathUtils refuses.
TEST(Path, CharactersBeyondTheBasicPlaneAreRefusedLikeByTheServer) {
  for (const char* path : {"/locks/😀", "/\xf0\x90\x80\x80", "/\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(path_error(path)) << path;
  }
}

TEST(Path, ServersOwnTreeIsNotOurs) {
  for (const char* path : {"/zookeeper", "/zookeeper/quota", "/zookeeper/config"}) {
    const auto failure = support::failure_of([&] { check_path(path); });
    ASSERT_TRUE(failure) << path;
    EXPECT_EQ(failure->status(), ExitStatus::usage);
    EXPECT_NE(failure->text().find(path), std::string::npos);
    EXPECT_NE(failure->text().find("belongs to the server"), std::string::npos);
  }
}

TEST(Path, FailureNamesThePathSafely) {
  const auto failure = support::failure_of([] { check_path("/a\x1b[2J\n"); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status(), ExitStatus::usage);
  EXPECT_EQ(failure->text(), "bad path '/a\\x1b[2J\\x0a': it has a control character");
}

TEST(Path, TakesPathsApart) {
  EXPECT_EQ(parent_of("/a/b/c"), "/a/b");
  EXPECT_EQ(parent_of("/a"), "");
  EXPECT_EQ(name_of("/a/b/c"), "c");
  EXPECT_EQ(name_of("/a"), "a");
  EXPECT_EQ(name_of("sleep"), "sleep");
}

TEST(Path, PutsPathsTogether) {
  EXPECT_EQ(child_of("/a/b", "c"), "/a/b/c");
  EXPECT_EQ(child_of("/", "c"), "/c");
}

}  // namespace path_test
}  // namespace zklock::zk
