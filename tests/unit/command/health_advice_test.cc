// SPDX-License-Identifier: Apache-2.0
// command/health/advice: how servers are set up, and which client has most connections. Needs no server.
#include "command/health/health.h"
#include "support/replies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::command {
namespace health_advice_test {

using support::kReleases;
using support::reply_of;
using Settings = std::vector<std::pair<std::string, std::string>>;

void set(zk::Fields& fields, const Settings& settings) {
  for (const auto& [name, value] : settings) {
    const auto is_it = [&name = name](const auto& item) { return item.first == name; };
    std::erase_if(fields.items, is_it);
    fields.items.emplace_back(name, value);
  }
}

// Returns a server that reports `settings` in conf in place of its own.
ServerHealth server(const std::string& host, const std::string& role, const Settings& settings = {},
                    const std::string& release = "3.9.3") {
  std::vector<zk::WordReply> replies;
  for (const char* word : {"srvr", "mntr", "conf"}) {
    const std::string text = reply_of(release, role, word);
    replies.push_back({{host, 2181}, word, zk::judge_reply(word, text), text, "", {}});
  }
  ServerHealth health = ServerHealth::of(replies);
  set(health.conf, settings);
  return health;
}

HealthVerdict judged(const std::vector<ServerHealth>& servers) {
  return judge_health(servers, {}, std::nullopt);
}

std::string warnings(const std::vector<ServerHealth>& servers) {
  std::string text;
  for (const Finding& finding : judge_settings(servers)) {
    EXPECT_EQ(finding.level, Level::warning);
    text += finding.text + "; ";
  }
  return text;
}

std::string advice(const std::vector<ServerHealth>& servers, int64_t voters = 3) {
  return fmt::format("{}", fmt::join(advise(servers, voters), "; "));
}

TEST(HealthAdvice, ThreeServersOfEveryReleaseNeedNone) {
  for (const char* release : kReleases) {
    const std::vector<ServerHealth> servers{server("a", "leader", {}, release), server("b", "follower", {}, release),
                                            server("c", "follower", {}, release)};
    EXPECT_EQ(advice(servers), "") << release;
    EXPECT_EQ(warnings(servers), "") << release;
  }
}

TEST(HealthAdvice, LimitsOfTheSessionTimeoutThatDifferAreAWarning) {
  EXPECT_EQ(warnings({server("a", "leader"), server("b", "follower", {{"maxSessionTimeout", "20000"}}),
                      server("c", "follower", {{"maxSessionTimeout", "10000"}})}),
            "maxSessionTimeout differs: 40000 on a:2181, 20000 on b:2181; ");
}

TEST(HealthAdvice, ALeastSessionTimeoutBelowTwoTicksIsAWarning) {
  const Settings low{{"minSessionTimeout", "3000"}};
  EXPECT_EQ(warnings({server("a", "leader", low), server("b", "follower", low)}),
            "a:2181: minSessionTimeout 3000 is less than two ticks of 2000; "
            "b:2181: minSessionTimeout 3000 is less than two ticks of 2000; ");
  EXPECT_EQ(warnings({server("a", "leader", {{"minSessionTimeout", "4000"}})}), "");
}

TEST(HealthAdvice, ATickThatCannotBeDoubledIsTooLongAllTheSame) {
  EXPECT_EQ(warnings({server("a", "leader", {{"tickTime", "9223372036854775807"}})}),
            "a:2181: minSessionTimeout 4000 is less than two ticks of 9223372036854775807; ");
}

TEST(HealthAdvice, AnEvenNumberOfVotersIsNoWarning) {
  std::vector<ServerHealth> servers{server("a", "leader"), server("b", "follower"), server("c", "follower"),
                                    server("d", "follower")};
  for (ServerHealth& one : servers) one.voters = 4;
  set(servers[0].mntr, {{"zk_learners", "3"}, {"zk_synced_followers", "3"}});
  const HealthVerdict verdict = judged(servers);
  EXPECT_EQ(verdict.level, Level::ok) << line_of(verdict);
  EXPECT_EQ(verdict.advice,
            std::vector<std::string>{"4 voters are an even number: no more of them may fail than of 3"});
  EXPECT_EQ(line_of(verdict).find("even"), std::string::npos);
  EXPECT_EQ(advice(servers, 0), "");
}

TEST(HealthAdvice, OtherSettingsThatDiffer) {
  EXPECT_EQ(advice({server("a", "leader"), server("b", "follower", {{"initLimit", "20"}, {"tickTime", "3000"}}),
                    server("c", "follower", {{"syncLimit", "7"}, {"maxClientCnxns", "7"}})}),
            "tickTime differs: 2000 on a:2181, 3000 on b:2181; initLimit differs: 5 on a:2181, 20 on b:2181; "
            "syncLimit differs: 2 on a:2181, 7 on c:2181; maxClientCnxns differs: 60 on a:2181, 7 on c:2181");
}

TEST(HealthAdvice, WhoMayBeNearTheLimitOfConnections) {
  const auto may = [](int64_t connections, const char* limit) {
    ServerHealth one = server("a", "leader", {{"maxClientCnxns", limit}});
    one.status.connections = connections;
    return may_be_near_limit(one);
  };
  EXPECT_FALSE(may(47, "60"));
  EXPECT_TRUE(may(48, "60"));
  EXPECT_TRUE(may(10000, "60"));
  EXPECT_FALSE(may(10000, "0"));
  EXPECT_FALSE(may(10000, "9223372036854775807"));
  EXPECT_FALSE(may(10000, "-9223372036854775808"));
  EXPECT_FALSE(may(0, "1"));
  EXPECT_TRUE(may(1, "1"));
  EXPECT_FALSE(may_be_near_limit(ServerHealth()));
}

TEST(HealthAdvice, TheBusiestClientByItsAddress) {
  EXPECT_FALSE(busiest_in(""));
  EXPECT_FALSE(busiest_in("cons is not executed because it is not in the whitelist.\n"));
  const auto busiest = busiest_in(
      " /10.0.0.7:40544[1](queued=0,recved=1,sent=0)\n /0:0:0:0:0:0:0:1:40545[1](queued=0,recved=1,sent=0)\n"
      " /10.0.0.8:1[0](queued=0)\n /0:0:0:0:0:0:0:1:40546[1](queued=0,recved=1,sent=0)\n\n");
  ASSERT_TRUE(busiest);
  EXPECT_EQ(busiest->address, "0:0:0:0:0:0:0:1");
  EXPECT_EQ(busiest->connections, 2);
  // Newer JDKs write it so.
  const auto bracketed = busiest_in(" /[0:0:0:0:0:0:0:1]:40544[1](queued=0,recved=1,sent=0)\n");
  ASSERT_TRUE(bracketed);
  EXPECT_EQ(bracketed->address, "[0:0:0:0:0:0:0:1]");
}

TEST(HealthAdvice, AClientNearTheLimitAndThoseThatWereTurnedAway) {
  ServerHealth one = server("a", "leader", {{"maxClientCnxns", "60"}});
  one.busiest = BusiestClient{"10.0.0.7", 47};
  EXPECT_EQ(advice({one}), "");
  one.busiest = BusiestClient{"10.0.0.7", 48};
  set(one.mntr, {{"zk_connection_rejected", "1"}});
  EXPECT_EQ(advice({one}),
            "a:2181: 10.0.0.7 has 48 connections, and maxClientCnxns is 60 for each client's address; "
            "a:2181: it has turned away 1 connection since it was started: maxClientCnxns is 60 for each client's "
            "address");
  set(one.conf, {{"maxClientCnxns", "0"}});
  EXPECT_EQ(advice({one}), "a:2181: it has turned away 1 connection since it was started");
}

}  // namespace health_advice_test
}  // namespace zklock::command
