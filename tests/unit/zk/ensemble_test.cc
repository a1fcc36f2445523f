// SPDX-License-Identifier: Apache-2.0
// zk/ensemble: servers as people write them; credentials, which are never shown.
#include "zk/ensemble.h"

#include "base/text.h"
#include "support/process.h"

#include <gtest/gtest.h>

namespace zklock::zk {
namespace ensemble_test {

ServerList parse(std::string_view text) {
  return ServerList::parse(text, "--servers");
}

TEST(ServerList, ReadsWhatPeopleWrite) {
  const std::pair<const char*, const char*> cases[] = {
      {"web1", "web1:2181"},
      {"web1:2182", "web1:2182"},
      {"web1:1", "web1:1"},
      {"web1:65535", "web1:65535"},
      {"web1:010", "web1:10"},
      {"127.0.0.1", "127.0.0.1:2181"},
      {"web1,web2:99,10.0.0.1", "web1:2181,web2:99,10.0.0.1:2181"},
      {"[::1]", "[::1]:2181"},
      {"[::1]:2182", "[::1]:2182"},
      {"[2001:db8::7]:1,web1", "[2001:db8::7]:1,web1:2181"},
      {"[fe80::1%eth0]", "[fe80::1%eth0]:2181"},
      {"web1/apps", "web1:2181/apps"},
      {"web1,web2/apps/a", "web1:2181,web2:2181/apps/a"},
      {"[::1]/apps", "[::1]:2181/apps"},
      {"web1/", "web1:2181"},
      {"web1,web2/", "web1:2181,web2:2181"},
      {"bücher.example", "bücher.example:2181"},
  };
  for (const auto& [written, complete] : cases) EXPECT_EQ(parse(written).text(), complete) << written;
}

// ZooKeeper's own client reads it so.
TEST(ServerList, BlanksAndCommasWithoutAServerArePassedOver) {
  const std::pair<const char*, const char*> cases[] = {
      {"a:1, b:1", "a:1,b:1"},
      {"a:1,b:1,", "a:1,b:1"},
      {",a", "a:2181"},
      {" a\n", "a:2181"},
      {"a,,b", "a:2181,b:2181"},
      {"a:1 ,\tb:2 /apps", "a:1,b:2/apps"},
      {"a:1, [::1]:2,/x", "a:1,[::1]:2/x"},
      {" tls://a, b", "tls://a:2281,b:2281"},
  };
  for (const auto& [written, complete] : cases) EXPECT_EQ(parse(written).text(), complete) << written;
}

TEST(ServerList, KeepsHostPortChrootAndOriginApart) {
  const ServerList list = parse("[::1]:7,web2/a/b");
  ASSERT_EQ(list.servers.size(), 2u);
  EXPECT_EQ(list.servers[0].host, "::1");
  EXPECT_EQ(list.servers[0].port, 7);
  EXPECT_EQ(list.servers[1].host, "web2");
  EXPECT_EQ(list.servers[1].port, 2181);
  EXPECT_EQ(list.chroot, "/a/b");
  EXPECT_EQ(list.origin, "--servers");
}

TEST(ServerList, TextIsReadBackAsTheSame) {
  for (const char* written : {"a", "a:1,[::1]:2/x", "[::1],[fe80::1%lo]:9/a/b/c", "a,b,c,d,e/"}) {
    const std::string text = parse(written).text();
    EXPECT_EQ(parse(text).text(), text);
  }
}

TEST(ServerList, TlsIsForAllAndHasAPortOfItsOwn) {
  const std::pair<const char*, const char*> cases[] = {
      {"tls://web1", "tls://web1:2281"},
      {"tls://web1:2182,[::1]/apps", "tls://web1:2182,[::1]:2281/apps"},
      {"tls://web1/", "tls://web1:2281"},
  };
  for (const auto& [written, complete] : cases) {
    EXPECT_EQ(parse(written).text(), complete);
    EXPECT_TRUE(parse(complete).tls);
    EXPECT_EQ(parse(complete).text(), complete);
  }
  EXPECT_FALSE(parse("web1").tls);
  EXPECT_EQ(ServerList::parse("web1,web2:7", "--servers", true).text(), "tls://web1:2281,web2:7");
}

struct Refused {
  std::string written;
  std::string culprit;  // in quotes in the message
  std::string advice;   // a part of it
};

TEST(ServerList, NamesTheCulpritOfABadList) {
  const Refused cases[] = {
      {"", "''", "a server is missing"},
      {",", "','", "a server is missing"},
      {"/apps", "'/apps'", "a server is missing"},
      {"http://x/", "'http://x/'", "the only scheme is tls://"},
      {"zk://a:1,b:1/x", "'zk://a:1,b:1/x'", "the only scheme is tls://"},
      {"a,b:0", "'b:0'", "from 1 to 65535"},
      {"a:65536", "'a:65536'", "from 1 to 65535"},
      {"a:99999999", "'a:99999999'", "from 1 to 65535"},
      {"a:99999999999999999999", "'a:99999999999999999999'", "from 1 to 65535"},
      {"a:x", "'a:x'", "from 1 to 65535"},
      {"a:", "'a:'", "from 1 to 65535"},
      {"a:-1", "'a:-1'", "from 1 to 65535"},
      {"a:+1", "'a:+1'", "from 1 to 65535"},
      {"a:21 81", "'a:21 81'", "from 1 to 65535"},
      {"[::1]:", "'[::1]:'", "from 1 to 65535"},
      {":2181", "':2181'", "host is missing"},
      {"[]:2181", "'[]:2181'", "host is missing"},
      {"a b:1", "'a b:1'", "not a host name"},
      {"a, b c", "'b c'", "not a host name"},
      {"a\tb", "'a\\x09b'", "not a host name"},
      {"a]", "'a]'", "not a host name"},
      {"[[::1]]", "'[[::1]]'", ""},
      {"[::1", "'[::1'", "']' is missing"},
      {"[::1]2181", "'[::1]2181'", "only :PORT"},
      {"::1", "'::1'", "[ADDRESS]:PORT"},
      {"fe80::1:2181", "'fe80::1:2181'", "[ADDRESS]:PORT"},
      {"a:1:2", "'a:1:2'", "[ADDRESS]:PORT"},
      {"h1/a,h2/a", "'/a,h2/a'", "chroot stands once"},
      {"tls://a,tls://b", "'tls://a,tls://b'", "tls:// stands once"},
      {"tls://", "'tls://'", "a server is missing"},
      {"tls:///a", "'tls:///a'", "a server is missing"},
      {"TLS://a", "'TLS://a'", "the only scheme is tls://"},
      {"a//", "'//'", ""},
      {"a/b/", "'/b/'", "does not end with /"},
      {"a/b//c", "'/b//c'", "a name is empty"},
      {"a/../b", "'/../b'", "relative"},
      {"a/b\nc", "'/b\\x0ac'", "control character"},
      {"a/\xff", "'/\\xff'", "not UTF-8"},
  };
  for (const Refused& c : cases) {
    const auto failure = support::failure_of([&] { parse(c.written); });
    ASSERT_TRUE(failure) << c.written;
    EXPECT_EQ(failure->status(), ExitStatus::usage);
    // The whole list is named once.
    const bool all = c.culprit == "'" + printable(c.written) + "'";
    const std::string named = all ? c.culprit + " (from --servers): " : ": " + c.culprit + ": ";
    EXPECT_NE(failure->text().find(named), std::string::npos) << failure->text();
    EXPECT_NE(failure->text().find(c.advice), std::string::npos) << failure->text();
    EXPECT_NE(failure->text().find("--servers"), std::string::npos) << failure->text();
  }
}

TEST(ServerList, PutsBracketsAroundIpv6Only) {
  EXPECT_EQ(to_string(Server{"::1", 5}), "[::1]:5");
  EXPECT_EQ(to_string(Server{"web1", 5}), "web1:5");
  EXPECT_EQ(to_string(Server{"10.0.0.1", 65535}), "10.0.0.1:65535");
}

TEST(Access, ReadsDigestCredentials) {
  const std::pair<const char*, const char*> cases[] = {{"digest:ann:secret", "ann:secret"},
                                                       {"digest:ann:", "ann:"},
                                                       {"digest:ann:a:b:c", "ann:a:b:c"},
                                                       {"digest:grün:pässword", "grün:pässword"},
                                                       {"digest:ann: spaces ", "ann: spaces "}};
  for (const auto& [text, secret] : cases) EXPECT_EQ(parse_credentials(text, "ZKLOCK_AUTH"), secret);
}

TEST(Access, RefusesOthersAndNeverShowsTheSecret) {
  for (const char* text : {"", "hunter2", "ann:hunter2", "digest:hunter2", "digest::hunter2", "Digest:ann:hunter2",
                           "sasl:ann:hunter2", " digest:ann:hunter2", "digest:ann:hunter2\xff", "digest"}) {
    const auto failure = support::failure_of([&] { parse_credentials(text, "ZKLOCK_AUTH"); });
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
  EXPECT_EQ(read_credentials(folder.write("line", "digest:a:b\n")), "a:b");
  EXPECT_EQ(read_credentials(folder.write("open", "digest:a:b")), "a:b");
  EXPECT_EQ(read_credentials(folder.write("crlf", "digest:a:b\r\n")), "a:b");
  EXPECT_EQ(read_credentials(folder.write("more", "digest:a:b\ndigest:c:d\n")), "a:b");
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
    const auto failure = support::failure_of([&file = file] { read_credentials(file); });
    ASSERT_TRUE(failure) << file;
    EXPECT_EQ(failure->status(), ExitStatus::usage);
    EXPECT_NE(failure->text().find("'" + file + "'"), std::string::npos) << failure->text();
    EXPECT_NE(failure->text().find(reason), std::string::npos) << failure->text();
    EXPECT_EQ(failure->text().find("hunter2"), std::string::npos) << failure->text();
  }
}

}  // namespace ensemble_test
}  // namespace zklock::zk
