// SPDX-License-Identifier: Apache-2.0
// command/health/health: the formats, and rates.
#include "base/text.h"
#include "command/health/health.h"
#include "support/replies.h"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace zklock::command {
namespace health_report_test {

using namespace std::chrono_literals;
using nlohmann::json;
using support::reply_of;
using zk::WordResult;

zk::WordReply reply(const std::string& host, const char* word, const std::string& text) {
  return {{host, 2181}, word, zk::judge_reply(word, text), text, "", {}};
}

// Returns a leader, a follower whose version tries to break formats, and a server that is gone.
Checkup look(const Thresholds& thresholds = {}) {
  Checkup look;
  for (const char* role : {"leader", "follower"}) {
    look.servers.push_back(ServerHealth::of(
        {reply(role, "srvr", reply_of("3.9.3", role, "srvr")), reply(role, "mntr", reply_of("3.9.3", role, "mntr"))}));
  }
  look.servers[1].status.version = "3.9\"\\\n|'=;";
  look.servers.push_back(ServerHealth::of({{{"gone|'=", 2181}, "srvr", WordResult::refused, "", "", {}}}));
  look.servers[0].rates = Rates{10, 5};
  look.probe = Probe{"/health|probe", 12ms, 3ms, "", true};
  look.verdict = judge_health(look.servers, thresholds, look.probe);
  return look;
}

TEST(HealthReport, TextHasALineAServerAndTheVerdictBelow) {
  const std::string text = text_of(look());
  EXPECT_NE(text.find("RECEIVED/S"), std::string::npos);
  EXPECT_NE(text.find("leader:2181    serving  leader    3.9.3 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n\nwarning: quorum: leader:2181 leads, 2 follow, 2 in sync; voters 3\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nwarning: missing: gone|'=:2181 (connection refused)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nprobe: /health|probe taken in 12ms, given back in 3ms\n"), std::string::npos) << text;
}

TEST(HealthReport, TheTableFitsATerminal) {
  for (const size_t columns : {80u, 100u, 200u}) {
    const std::string text = text_of(look(), {.columns = columns});
    const std::string table = text.substr(0, text.find("\n\n"));
    for (const auto line : split(table, '\n')) EXPECT_LE(line.size(), columns) << line;
    for (const char* head : {"SERVER", "STATE", "MODE", "AVG-MS", "RECEIVED/S"}) {
      EXPECT_NE(table.find(head), std::string::npos) << table;
    }
  }
  EXPECT_EQ(text_of(look(), {.columns = 1000}), text_of(look()));
}

TEST(HealthReport, JsonHasAllServersAndTheVerdict) {
  const json parsed = json::parse(json_of(look()));
  EXPECT_EQ(parsed["status"], "warning");
  EXPECT_EQ(parsed["quorum"], true);
  EXPECT_EQ(parsed["leader"], "leader:2181");
  EXPECT_EQ(parsed["in_sync"], 3);
  EXPECT_EQ(parsed["missing"], json{"gone|'=:2181"});
  EXPECT_EQ(parsed["servers"].size(), 3u);
  EXPECT_EQ(parsed["servers"][0]["latency_ms"]["avg"], 0.7561);
  EXPECT_EQ(parsed["servers"][0]["rates"]["received"], 10.0);
  EXPECT_EQ(parsed["servers"][2]["state"], "refused");
  EXPECT_EQ(parsed["probe"]["taken_ms"], 12.0);
}

// https://www.monitoring-plugins.org/doc/guidelines.html: 'label'=value[UOM];[warn];[crit];[min];[max]
TEST(HealthReport, PerformanceDataFollowTheGrammar) {
  Thresholds thresholds{50ms, 10, 2};
  const std::string line = nagios_of(look(thresholds), thresholds);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 1) << line;
  EXPECT_TRUE(line.starts_with("ZOOKEEPER WARNING - quorum: ")) << line;
  const std::string data = line.substr(line.find('|') + 1);
  const std::string number = "-?[0-9]+(\\.[0-9]+)?";
  const std::string range = "(@?((~|" + number + "):)?(" + number + ")?)";
  const std::regex item("( '[^'=|]+'=" + number + "(s|ms|us|%|B|c)?(;" + range + ")?(;" + range + ")?(;" + number +
                        ")?(;" + number + ")?)");
  std::string rest = data.substr(0, data.size() - 1);
  std::smatch match;
  size_t items = 0;
  for (; std::regex_search(rest, match, item, std::regex_constants::match_continuous); ++items) rest = match.suffix();
  EXPECT_EQ(rest, "");
  EXPECT_EQ(items, 2u + 2 * 6 + 1);
  EXPECT_NE(data.find(" 'serving'=2;;2:;0;3 "), std::string::npos) << data;
  EXPECT_NE(data.find(" 'leader:2181 latency'=0.7561ms;50;;0 "), std::string::npos) << data;
  EXPECT_NE(data.find(" 'leader:2181 received'=1234c;;;0 "), std::string::npos) << data;
}

// https://prometheus.io/docs/instrumenting/exposition_formats: one HELP and TYPE for each family, then its samples.
TEST(HealthReport, TheExpositionFollowsItsGrammar) {
  const std::regex head("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  const std::string label = "[a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\\\\n]|\\\\[\\\\\"n])*\"";
  const std::regex sample("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{" + label + "(," + label +
                          ")*\\})? (-?[0-9.]+(e[-+]?[0-9]+)?)");
  std::set<std::string> families;
  std::set<std::string> samples;
  std::string family;
  std::string text = prometheus_of(look());
  ASSERT_TRUE(text.ends_with('\n'));
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      if (match[1] == "HELP") {
        EXPECT_TRUE(families.insert(family = match[2]).second) << line;
      } else {
        EXPECT_EQ(match[2], family);
        EXPECT_TRUE(match[3] == "gauge" || match[3] == "counter") << line;
      }
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1], family);
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_TRUE(families.contains("zklock_health_status"));
  EXPECT_TRUE(samples.contains("zklock_server_serving{server=\"gone|'=:2181\"}"));
}

TEST(HealthReport, RatesAreBetweenTwoLooks) {
  ServerHealth before = look().servers[0];
  ServerHealth now = before;
  *now.status.received += 20;
  *now.status.sent += 10;
  const auto rates = rates_between(before, now, 2s);
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->received, 10);
  EXPECT_EQ(rates->sent, 5);
  EXPECT_FALSE(rates_between(now, before, 2s)) << "a server that began anew";
  EXPECT_FALSE(rates_between(before, look().servers[2], 2s)) << "one that is gone";
}

}  // namespace health_report_test
}  // namespace zklock::command
