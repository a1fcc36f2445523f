// SPDX-License-Identifier: Apache-2.0
// zk/access: credentials, and that they are never shown.
#include "zk/access.h"

#include "support/process.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace {

TEST(Access, ReadsDigestCredentials) {
  const std::pair<const char*, const char*> cases[] = {{"digest:ann:secret", "ann:secret"},
                                                       {"digest:ann:", "ann:"},
                                                       {"digest:ann:a:b:c", "ann:a:b:c"},
                                                       {"digest:grün:pässword", "grün:pässword"},
                                                       {"digest:ann: spaces ", "ann: spaces "}};
  for (const auto& [text, secret] : cases) EXPECT_EQ(Credentials::parse(text, "ZKLOCK_AUTH").secret, secret);
}

TEST(Access, WithoutASecretThereAreNone) {
  EXPECT_FALSE(Credentials{});
  EXPECT_TRUE(Credentials::parse("digest:a:b", "ZKLOCK_AUTH"));
}

TEST(Access, RefusesOthersAndNeverShowsTheSecret) {
  for (const char* text : {"", "hunter2", "ann:hunter2", "digest:hunter2", "digest::hunter2", "Digest:ann:hunter2",
                           "sasl:ann:hunter2", " digest:ann:hunter2", "digest:ann:hunter2\xff", "digest"}) {
    const auto failure = support::failure_of([&] { Credentials::parse(text, "ZKLOCK_AUTH"); });
    ASSERT_TRUE(failure) << text;
    EXPECT_EQ(failure->status(), ExitStatus::usage);
    EXPECT_NE(failure->text().find("ZKLOCK_AUTH"), std::string::npos);
    EXPECT_NE(failure->text().find("digest:USER:PASSWORD"), std::string::npos);
    EXPECT_EQ(failure->text().find("hunter2"), std::string::npos) << failure->text();
    EXPECT_EQ(failure->text().find("ann"), std::string::npos) << failure->text();
  }
}

TEST(Access, ReadsTheFirstLineOfAFile) {
  const support::TempDir folder;
  EXPECT_EQ(Credentials::read_file(folder.write("line", "digest:a:b\n")).secret, "a:b");
  EXPECT_EQ(Credentials::read_file(folder.write("open", "digest:a:b")).secret, "a:b");
  EXPECT_EQ(Credentials::read_file(folder.write("crlf", "digest:a:b\r\n")).secret, "a:b");
  EXPECT_EQ(Credentials::read_file(folder.write("more", "digest:a:b\ndigest:c:d\n")).secret, "a:b");
}

TEST(Access, NamesAFileThatIsOfNoUse) {
  const support::TempDir folder;
  const std::pair<std::string, std::string> cases[] = {
      {folder.file("missing"), "No such file or directory"},
      {folder.write("empty", ""), "it is empty"},
      {folder.path(), "Is a directory"},
      {folder.write("bad", "ann:hunter2\n"), "digest:USER:PASSWORD"},
      {folder.write("blank", "\ndigest:ann:hunter2\n"), "digest:USER:PASSWORD"},
      {folder.write("binary", "digest:ann:hunter2\xff\n"), "digest:USER:PASSWORD"},
  };
  for (const auto& [file, reason] : cases) {
    const auto failure = support::failure_of([&file = file] { Credentials::read_file(file); });
    ASSERT_TRUE(failure) << file;
    EXPECT_EQ(failure->status(), ExitStatus::usage);
    EXPECT_NE(failure->text().find("'" + file + "'"), std::string::npos) << failure->text();
    EXPECT_NE(failure->text().find(reason), std::string::npos) << failure->text();
    EXPECT_EQ(failure->text().find("hunter2"), std::string::npos) << failure->text();
  }
}

}  // namespace
}  // namespace zklock::zk
