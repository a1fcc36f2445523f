// SPDX-License-Identifier: Apache-2.0
// zk/words/word_reply: which replies to four-letter words are whole, and what they say.
#include "zk/words/word_reply.h"

#include "support/replies.h"

#include <random>

#include <gtest/gtest.h>

namespace zklock::zk {
namespace word_reply_test {

using support::kReleases;
using support::reply_of;

std::string random_bytes(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(engine());
  return bytes;
}

TEST(WordReply, ThoseOfAllReleasesAreProper) {
  for (const char* release : kReleases) {
    for (const char* role : {"leader", "follower"}) {
      for (const char* word : {"srvr", "mntr", "conf"}) {
        EXPECT_EQ(judge_reply(word, reply_of(release, role, word)), WordResult::answered)
            << release << ' ' << role << ' ' << word;
      }
    }
    EXPECT_EQ(judge_reply("stat", reply_of(release, "leader", "stat")), WordResult::answered) << release;
  }
}

TEST(WordReply, ProperOnesOfTheOtherWords) {
  const std::pair<const char*, const char*> replies[] = {
      {"ruok", "imok"},
      {"isro", "rw"},
      {"isro", "ro"},
      {"gtmk", "306"},
      {"srst", "Server stats reset.\n"},
      {"crst", "Connection stats reset.\n"},
      {"dirs", "datadir_size: 457\nlogdir_size: 457\n"},
      {"dirs", "snapshot_dir_size: 0\nlog_dir_size: 3875\n"},
      {"wchs", "0 connections watching 0 paths\nTotal watches:0\n"},
      {"wchc", "\n"},
      {"wchp", "/a\n\t0x1000\n\n"},
      {"cons", " /127.0.0.1:40544[0](queued=0,recved=1,sent=0)\n\n"},
      {"envi", "Environment:\nzookeeper.version=3.8.0\nuser.dir=/\nos.memory.max=247MB\n"},
      {"dump", "SessionTracker dump:\nSession Sets (0)/(0):\nephemeral nodes dump:\nSessions with Ephemerals (0):\n"},
      {"hash", "0x100000001: 1371985504\n"},
      {"rqld", "Sent leadership request to leader."}};
  for (const auto& [word, reply] : replies) EXPECT_EQ(judge_reply(word, reply), WordResult::answered) << word << reply;
}

TEST(WordReply, RefusalsAreToldFromReplies) {
  for (const char* word : {"ruok", "mntr", "isro", "rqld"}) {
    const std::string refusal = std::string(word) + " is not executed because it is not in the whitelist.\n";
    EXPECT_EQ(judge_reply(word, refusal), WordResult::not_allowed);
    EXPECT_EQ(judge_reply(word, refusal.substr(0, 20)), WordResult::cut_short);
  }
  for (const char* said : {"This ZooKeeper instance is not currently serving requests\n",
                           "This ZooKeeper instance is not currently serving requests",
                           "This instance is not currently serving requests"}) {
    for (const char* word : {"srvr", "mntr", "hash"}) EXPECT_EQ(judge_reply(word, said), WordResult::not_serving);
  }
  EXPECT_EQ(judge_reply("isro", "null"), WordResult::not_serving);
  EXPECT_EQ(judge_reply("srvr", ""), WordResult::closed);
}

// The exception is a cut between two lines after all that a whole reply must have.
TEST(WordReply, OneThatIsCutAnywhereWithinALineIsCutShort) {
  for (const char* release : kReleases) {
    for (const char* word : {"srvr", "stat", "mntr", "conf"}) {
      const std::string whole = reply_of(release, "leader", word);
      for (size_t length = 1; length < whole.size(); ++length) {
        if (whole[length - 1] == '\n' || whole.find('\n', length) == std::string::npos) continue;
        EXPECT_EQ(judge_reply(word, whole.substr(0, length)), WordResult::cut_short) << release << word << length;
      }
    }
  }
  EXPECT_EQ(judge_reply("ruok", "im"), WordResult::cut_short);
  EXPECT_EQ(judge_reply("isro", "r"), WordResult::cut_short);
}

TEST(WordReply, AStateThatLacksItsLastLinesIsCutShort) {
  const std::string whole = reply_of("3.9.3", "follower", "srvr");
  EXPECT_EQ(judge_reply("srvr", whole.substr(0, whole.find("Node count"))), WordResult::cut_short);
  const std::string conf = reply_of("3.9.3", "leader", "conf");
  EXPECT_EQ(judge_reply("conf", conf.substr(0, conf.find("server.2"))), WordResult::cut_short);
}

TEST(WordReply, WhatHasNoEndInTimeIsNotWhole) {
  EXPECT_EQ(judge_unended("ruok", ""), WordResult::no_answer);
  EXPECT_EQ(judge_unended("srvr", reply_of("3.9.3", "leader", "srvr")), WordResult::cut_short);
  EXPECT_EQ(judge_unended("srvr", "SSH-2.0-OpenSSH_9.2\r\n"), WordResult::foreign);
}

TEST(WordReply, WhatNoZooKeeperSaysIsForeign) {
  const char* words[] = {"ruok", "isro", "srvr", "stat", "mntr", "conf", "cons", "dump",
                         "envi", "wchs", "dirs", "gtmk", "srst", "crst", "wchc", "hash"};
  for (const char* word : words) {
    for (const char* text : {"HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x03\x01", "220 mail ESMTP\r\n"}) {
      EXPECT_EQ(judge_reply(word, text), WordResult::foreign) << word << text;
    }
    for (unsigned seed = 0; seed < 50; ++seed) {
      const WordResult result = judge_reply(word, random_bytes(300, seed));
      EXPECT_TRUE(result == WordResult::foreign || result == WordResult::cut_short) << word << seed;
    }
  }
  EXPECT_EQ(judge_reply("srvr", random_bytes(10'000'000, 7)), WordResult::foreign);
}

TEST(ServerStatus, OfAllReleases) {
  for (const char* release : kReleases) {
    for (const char* word : {"srvr", "stat"}) {
      const ServerStatus status = parse_status(reply_of(release, "leader", word));
      EXPECT_FALSE(status.version.empty()) << release;
      EXPECT_EQ(status.mode, "leader") << release;
      ASSERT_TRUE(status.latency_ms) << release;
      EXPECT_EQ(status.latency_ms->max, 12) << release;
      EXPECT_EQ(status.received, 1234) << release;
      EXPECT_EQ(status.sent, 1233) << release;
      EXPECT_EQ(status.connections, 3) << release;
      EXPECT_EQ(status.outstanding, 2) << release;
      EXPECT_EQ(status.nodes, 142) << release;
    }
  }
}

TEST(ServerStatus, LatenciesHaveFractionsSince36) {
  EXPECT_EQ(parse_latency("0/1/12")->average, 1);
  EXPECT_EQ(parse_latency("0/0.7561/12")->average, 0.7561);
  EXPECT_EQ(parse_latency("0/1.2E7/12")->average, 1.2e7);
  for (const char* text : {"", "0/1", "0/1/2/3", "a/b/c", "0/nan/1", "0/inf/1", "0//1"}) {
    EXPECT_FALSE(parse_latency(text)) << text;
  }
}

TEST(ServerStatus, TransactionsAreNumberedInHexadecimalOrDecimal) {
  EXPECT_EQ(parse_zxid("0x100000002"), 0x100000002u);
  EXPECT_EQ(parse_zxid("34"), 34u);
  EXPECT_EQ(parse_zxid("0xffffffffffffffff"), 0xffffffffffffffffu);
  for (const char* text : {"", "0x", "x", "0x1g", "-1"}) EXPECT_FALSE(parse_zxid(text)) << text;
}

TEST(ServerStatus, VotersStandInConfSince35) {
  EXPECT_EQ(voters_in(Fields::parse(reply_of("3.5.10", "leader", "conf"), '=')), 3);
  EXPECT_FALSE(voters_in(Fields::parse(reply_of("3.4.14", "leader", "conf"), '=')));
  EXPECT_EQ(voters_in(Fields::parse("server.1=a:1:2:participant\nserver.2=b:1:2:observer\n", '=')), 1);
}

TEST(ServerStatus, AnObserverIsKnownByItsHost) {
  const Fields conf =
      Fields::parse("server.1=a:1:2:participant\nserver.2=b:1:2:observer\nserver.3=a:3:4:observer\n", '=');
  EXPECT_TRUE(has_only_observer(conf, "b"));
  EXPECT_FALSE(has_only_observer(conf, "a"));
  EXPECT_FALSE(has_only_observer(conf, "c"));
}

TEST(ServerStatus, ValuesWithSpacesAndUnknownKeysAreKept) {
  const Fields fields = Fields::parse(reply_of("3.9.3", "leader", "mntr"), '\t');
  EXPECT_EQ(*fields.find("zk_peer_state"), "leading - broadcast");
  EXPECT_EQ(*fields.find("zk_jvm_pause_time_ms"), "NaN");
  EXPECT_FALSE(fields.number("zk_jvm_pause_time_ms"));
  EXPECT_EQ(fields.number("zk_learners"), 2);
}

// Servers with a metrics provider write all numbers like averages.
TEST(ServerStatus, WholeNumbersMayHaveAPointOrAnExponent) {
  const std::pair<const char*, std::optional<int64_t>> cases[] = {
      {"1.0", 1},       {"0.0", 0},  {"12.", 12},  {"1.2E3", 1200}, {"9.007199254740992E15", 1LL << 53},
      {"1.5", {}},      {"NaN", {}}, {"-1.0", {}}, {"1e300", {}},   {"1.0 ms", {}},
      {"Infinity", {}}, {"", {}}};
  for (const auto& [text, number] : cases) {
    EXPECT_EQ(Fields::parse(std::string("name\t") + text, '\t').number("name"), number) << text;
  }
}

TEST(ServerStatus, OfGarbageIsEmptyAndQuick) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string bytes = random_bytes(1 << 16, seed);
    EXPECT_EQ(parse_status(bytes).mode, "");
    EXPECT_FALSE(voters_in(Fields::parse(bytes, '=')));
  }
  EXPECT_EQ(parse_status(random_bytes(10'000'000, 3)).mode, "");
}

}  // namespace word_reply_test
}  // namespace zklock::zk
