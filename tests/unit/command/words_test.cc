// SPDX-License-Identifier: Apache-2.0
// command/health/words: what is shown of replies to four-letter words.
#include "command/health/words.h"

#include "support/replies.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace zklock::command {
namespace words_test {

using nlohmann::json;
using support::kReleases;
using support::reply_of;
using zk::WordResult;

json structure(const char* word, const std::string& text) {
  return json::parse(structure_of(word, text).dump(-1, ' ', true, json::error_handler_t::replace));
}

zk::WordReply asked(const char* host, WordResult result, const std::string& text = "", const char* word = "ruok") {
  return {{host, 2181}, word, result, text, "", {}};
}

TEST(WordJson, NumbersAreNumbersAndNothingElseIs) {
  EXPECT_EQ(value_of("-1"), -1);
  EXPECT_EQ(value_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(value_of("0.7561"), 0.7561);
  EXPECT_EQ(value_of("1.2E7"), 1.2e7);
  for (const char* text : {"", "NaN", "inf", "0x10", "1e5", "3.8.0", "leading - broadcast", "12 ", "+1", "-"}) {
    EXPECT_EQ(value_of(text), text);
  }
}

TEST(WordJson, StatusOfAllReleases) {
  for (const char* release : kReleases) {
    const json stat = structure("stat", reply_of(release, "leader", "stat"));
    EXPECT_EQ(stat["mode"], "leader") << release;
    EXPECT_EQ(stat["read_only"], false) << release;
    EXPECT_EQ(stat["latency_ms"]["max"], 12.0) << release;
    EXPECT_EQ(stat["sent"], 1233) << release;
    ASSERT_EQ(stat["clients"].size(), 2u) << release;
    EXPECT_EQ(stat["clients"][1]["recved"], 24) << release;
    EXPECT_NE(std::string(stat["clients"][1]["address"]).find(":52042"), std::string::npos) << release;
    EXPECT_EQ(structure("srvr", reply_of(release, "follower", "srvr"))["nodes"], 142) << release;
  }
  EXPECT_EQ(structure("srvr", reply_of("3.9.3", "leader", "srvr"))["proposal_sizes"]["max"], 180);
}

TEST(WordJson, ReadOnlyModeStands) {
  const std::string text =
      "Zookeeper version: 3.8.0\nREAD-ONLY mode; serving only read-only clients\nMode: read-only\n";
  EXPECT_EQ(structure("srvr", text)["read_only"], true);
}

TEST(WordJson, MeasurementsKeepTheirNames) {
  const json mntr = structure("mntr", reply_of("3.9.3", "leader", "mntr"));
  EXPECT_EQ(mntr["zk_avg_latency"], 0.7561);
  EXPECT_EQ(mntr["zk_peer_state"], "leading - broadcast");
  EXPECT_EQ(mntr["zk_avg_fsynctime"], 1.2e7);
  EXPECT_EQ(mntr["zk_jvm_pause_time_ms"], "NaN");
  EXPECT_EQ(mntr["zk_learners"], 2);
  EXPECT_EQ(structure("mntr", reply_of("3.4.14", "leader", "mntr"))["zk_followers"], 2);
}

TEST(WordJson, TheOtherWords) {
  EXPECT_EQ(structure("ruok", "imok"), "imok");
  EXPECT_EQ(structure("gtmk", "306"), 306);
  const json conf = structure("conf", reply_of("3.9.3", "leader", "conf"));
  EXPECT_EQ(conf["tickTime"], 2000);
  EXPECT_EQ(conf["server.2"], "zk2:2888:3888:participant;0.0.0.0:2181");
  EXPECT_EQ(conf["version"], "100000000");
  EXPECT_EQ(structure("envi", "Environment:\njava.version=17\nuser.dir=/a=b\n"),
            (json{{"java.version", "17"}, {"user.dir", "/a=b"}}));
  EXPECT_EQ(structure("wchs", "3 connections watching 5 paths\nTotal watches:7\n"),
            (json{{"connections", 3}, {"paths", 5}, {"watches", 7}}));
  EXPECT_EQ(structure("wchp", "/a\n\t0x1\n\t0x2\n/b\n\t0x1\n\n"), (json{{"/a", {"0x1", "0x2"}}, {"/b", {"0x1"}}}));
  EXPECT_EQ(structure("wchc", "\n"), json::object());
  EXPECT_EQ(structure("dirs", "datadir_size: 457\nlogdir_size: 12\n"),
            (json{{"datadir_size", 457}, {"logdir_size", 12}}));
  EXPECT_EQ(structure("dump", "SessionTracker dump:\n"), nullptr);
  EXPECT_EQ(structure("cons", " /10.0.0.7:4[1](queued=0,recved=9,sid=0x10,lop=PING,to=4000,avglat=0.5)\n\n"),
            json::parse(R"([{"queued":0,"recved":9,"sid":"0x10","lop":"PING","to":4000,"avglat":0.5,
                             "address":"10.0.0.7:4"}])"));
}

// A quadratic step would take minutes.
TEST(WordJson, VeryLongRepliesAreQuick) {
  std::string lines;
  std::string lists;
  for (int i = 0; i < 300'000; ++i) {
    lines += "key" + std::to_string(i) + "=" + std::to_string(i) + "\n";
    lists += "0x" + std::to_string(i) + "\n\t/path\n";
  }
  EXPECT_EQ(structure_of("conf", lines).size(), 300'000u);
  EXPECT_EQ(structure_of("wchc", lists).size(), 300'000u);
}

TEST(WordReport, OneReplyStandsAsItIs) {
  EXPECT_EQ(text_of({asked("zk1", WordResult::answered, "imok")}), "imok");
  EXPECT_EQ(text_of({asked("zk1", WordResult::cut_short, "im")}), "");
}

TEST(WordReport, SeveralAreHeadedAndThoseWithoutAReplyLeftOut) {
  EXPECT_EQ(text_of({asked("zk1", WordResult::answered, "imok"), asked("zk2", WordResult::refused),
                     asked("::1", WordResult::answered, "imok\n")}),
            "==> zk1:2181 <==\nimok\n\n==> [::1]:2181 <==\nimok\n");
}

TEST(WordReport, ATerminalIsNotSteered) {
  EXPECT_EQ(text_for_terminal({asked("zk1", WordResult::answered, "a\tb\n\x1b[2J", "rqld")}), "a\tb\n\\x1b[2J\n");
}

TEST(WordReport, JsonHasAllServersWithTheirReasons) {
  const std::string lines = json_of({asked("zk1", WordResult::answered, "imok"), asked("zk2", WordResult::refused),
                                     asked("zk3", WordResult::answered, "SessionTracker dump:\n\xff", "dump")});
  const auto end = lines.find('\n');
  EXPECT_EQ(json::parse(lines.substr(0, end))["reply"], "imok");
  const json second = json::parse(lines.substr(end + 1, lines.find('\n', end + 1) - end));
  EXPECT_EQ(second["server"], "zk2:2181");
  EXPECT_EQ(second["state"], "refused");
  EXPECT_EQ(second["reason"], "connection refused");
  EXPECT_NE(lines.find(R"("text":"SessionTracker dump:\n\ufffd")"), std::string::npos);
}

TEST(WordReport, EveryTroubleIsOneLineOfItsOwn) {
  std::set<std::string> lines;
  for (const auto result : {WordResult::not_allowed, WordResult::not_serving, WordResult::refused,
                            WordResult::unreachable, WordResult::unknown_host, WordResult::no_answer,
                            WordResult::closed, WordResult::cut_short, WordResult::foreign}) {
    const std::string line = advice_on(asked("zk1", result, "\n\x1b", "mntr"));
    EXPECT_TRUE(line.starts_with("zk1:2181: ")) << line;
    EXPECT_EQ(line.find_first_of("\n\x1b"), std::string::npos) << line;
    lines.insert(line);
  }
  EXPECT_EQ(lines.size(), 9u);
}

TEST(WordReport, TheWhitelistIsNamedWithItsSettingAndValue) {
  EXPECT_NE(advice_on(asked("zk1", WordResult::not_allowed, "", "mntr")).find("4lw.commands.whitelist=srvr,mntr"),
            std::string::npos);
}

TEST(WordReport, AServerWithoutAnAnswerCountsBeforeOneThatRefuses) {
  const zk::WordReply fine = asked("zk1", WordResult::answered, "imok");
  const zk::WordReply refuses = asked("zk2", WordResult::not_allowed);
  const zk::WordReply gone = asked("zk3", WordResult::refused);
  EXPECT_EQ(status_of({fine, fine}), ExitStatus::done);
  EXPECT_EQ(status_of({fine, refuses}), ExitStatus::refused);
  EXPECT_EQ(status_of({refuses, gone}), ExitStatus::unavailable);
}

}  // namespace words_test
}  // namespace zklock::command
