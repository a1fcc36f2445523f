// SPDX-License-Identifier: Apache-2.0
// command/health/verdict: is the ensemble well? It judges replies of servers, and needs no server.
#include "command/health/health.h"
#include "support/replies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace zklock::command {
namespace health_verdict_test {

using namespace std::chrono_literals;
using support::kReleases;
using support::reply_of;
using zk::WordResult;

zk::WordReply reply(const std::string& host, const char* word, const std::string& text) {
  return {{host, 2181}, word, zk::judge_reply(word, text), text, "", {}};
}

ServerHealth server(const std::string& host, const std::string& release, const std::string& role) {
  std::vector<zk::WordReply> replies;
  for (const char* word : {"srvr", "mntr", "conf"}) replies.push_back(reply(host, word, reply_of(release, role, word)));
  return ServerHealth::of(replies);
}

// Returns a server that answers only srvr.
ServerHealth terse(const std::string& host, const std::string& mode, const std::string& zxid = "0x100000001") {
  const std::string text = fmt::format(
      "Zookeeper version: 3.9.3\nLatency min/avg/max: 0/0.5/1\nReceived: 1\nSent: 1\nConnections: 1\n"
      "Outstanding: 0\nZxid: {}\nMode: {}\nNode count: 5\n",
      zxid, mode);
  return ServerHealth::of(
      {reply(host, "srvr", text), reply(host, "mntr", "mntr is not executed because it is not in the whitelist.\n")});
}

ServerHealth silent(const std::string& host, WordResult result) {
  return ServerHealth::of({{{host, 2181}, "srvr", result, "", "", {}}});
}

// Returns a server of 3.9.3 whose reply to `word` has `to` in place of `from`.
ServerHealth changed(const std::string& host, const std::string& role, const std::string& word, const std::string& from,
                     const std::string& to) {
  std::vector<zk::WordReply> replies;
  for (const char* one : {"srvr", "mntr", "conf"}) {
    std::string text = reply_of("3.9.3", role, one);
    const size_t at = one == word ? text.find(from) : std::string::npos;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    replies.push_back(reply(host, one, text));
  }
  return ServerHealth::of(replies);
}

HealthVerdict judged(const std::vector<ServerHealth>& servers, const Thresholds& thresholds = {}) {
  return judge_health(servers, thresholds, std::nullopt);
}

// Returns "warning: text; ..." for all findings.
std::string findings(const HealthVerdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) text += fmt::format("{}: {}; ", name_of(finding.level), finding.text);
  return text;
}

TEST(HealthVerdict, ThreeServersOfEveryReleaseAreWell) {
  for (const char* release : kReleases) {
    const HealthVerdict verdict =
        judged({server("a", release, "leader"), server("b", release, "follower"), server("c", release, "follower")});
    EXPECT_EQ(verdict.level, Level::ok) << release << findings(verdict);
    EXPECT_EQ(verdict.quorum, true) << release;
    EXPECT_EQ(verdict.leader, "a:2181") << release;
    EXPECT_EQ(verdict.following, 2) << release;
    EXPECT_EQ(verdict.in_sync, 3) << release;
    EXPECT_TRUE(verdict.summary.starts_with("quorum: a:2181 leads, 2 follow, 2 in sync")) << verdict.summary;
    const bool known = release != std::string("3.4.14") && release != std::string("clickhouse");
    EXPECT_EQ(verdict.voters, known ? std::optional<int64_t>(3) : std::nullopt) << release;
  }
}

TEST(HealthVerdict, OneMissingOfThreeIsAWarningThatNamesIt) {
  for (const auto result : {WordResult::refused, WordResult::no_answer, WordResult::closed, WordResult::foreign,
                            WordResult::cut_short, WordResult::unknown_host, WordResult::not_serving}) {
    const HealthVerdict verdict = judged({terse("a", "leader"), terse("b", "follower"), silent("c", result)});
    EXPECT_EQ(verdict.level, Level::warning);
    EXPECT_EQ(verdict.quorum, true);
    EXPECT_EQ(verdict.missing, std::vector<std::string>{"c:2181"});
    EXPECT_NE(findings(verdict).find("c:2181"), std::string::npos);
  }
}

TEST(HealthVerdict, WithoutMntrItSaysThatSyncIsNotKnown) {
  const HealthVerdict verdict = judged({terse("a", "leader"), terse("b", "follower"), terse("c", "follower")});
  EXPECT_EQ(verdict.level, Level::ok);
  EXPECT_EQ(verdict.in_sync, std::nullopt);
  EXPECT_NE(findings(verdict).find("ok: how many are in sync is not known: a:2181: mntr is not in its whitelist"),
            std::string::npos);
}

TEST(HealthVerdict, UpButServingNobodyIsToldFromTooFewThatAreUp) {
  const HealthVerdict electing = judged(
      {silent("a", WordResult::not_serving), silent("b", WordResult::not_serving), silent("c", WordResult::refused)});
  EXPECT_EQ(electing.level, Level::critical);
  EXPECT_EQ(electing.quorum, false);
  EXPECT_NE(electing.summary.find("not serving: 2 of 3 are up, but they are starting, electing a leader"),
            std::string::npos);
  const HealthVerdict starting = judged({silent("a", WordResult::not_serving)});
  EXPECT_EQ(starting.level, Level::critical);
  EXPECT_EQ(starting.quorum, std::nullopt);
  EXPECT_TRUE(starting.summary.starts_with("not serving: the server is up, but it is starting")) << starting.summary;
  const HealthVerdict few = judged(
      {silent("a", WordResult::not_serving), silent("b", WordResult::refused), silent("c", WordResult::no_answer)});
  EXPECT_EQ(few.level, Level::critical);
  EXPECT_EQ(few.summary, "no quorum: only 1 of 3 up");
  const HealthVerdict none = judged({silent("a", WordResult::refused), silent("b", WordResult::no_answer)});
  EXPECT_EQ(none.level, Level::critical);
  EXPECT_EQ(none.summary, "no quorum: none of 2 answers");
}

TEST(HealthVerdict, RepliesThatTellNothingMakeItUnknown) {
  const HealthVerdict verdict = judged({silent("a", WordResult::foreign), silent("b", WordResult::closed)});
  EXPECT_EQ(verdict.level, Level::unknown);
  EXPECT_EQ(verdict.quorum, std::nullopt);
}

// "Critical" ranks above "unknown".
TEST(HealthVerdict, WhatIsCriticalIsSoThoughOthersAreUnknown) {
  Thresholds thresholds;
  thresholds.servers = 1;
  const std::vector<ServerHealth> servers{silent("a", WordResult::foreign), silent("b", WordResult::closed)};
  EXPECT_EQ(judged(servers, thresholds).level, Level::critical) << findings(judged(servers, thresholds));
}

TEST(HealthVerdict, ALeaderWhoseFollowersAreGoneIsNotBelieved) {
  const HealthVerdict verdict =
      judged({server("a", "3.9.3", "leader"), silent("b", WordResult::refused), silent("c", WordResult::not_serving)});
  EXPECT_EQ(verdict.level, Level::critical);
  EXPECT_EQ(verdict.quorum, false);
  EXPECT_EQ(verdict.summary, "no quorum: a:2181 says that it leads, but only 1 of 3 voters serve");
}

TEST(HealthVerdict, FollowersThatAreSilentToUsMayStillFollow) {
  const HealthVerdict verdict = judged(
      {server("a", "3.9.3", "leader"), silent("b", WordResult::no_answer), silent("c", WordResult::unreachable)});
  EXPECT_EQ(verdict.level, Level::critical);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_NE(findings(verdict).find("critical: only 1 of 3 voters answer"), std::string::npos);
}

TEST(HealthVerdict, FollowersWhoseLeaderIsGoneAreNoQuorum) {
  const HealthVerdict verdict =
      judged({silent("a", WordResult::refused), server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::critical);
  EXPECT_EQ(verdict.quorum, false);
  EXPECT_EQ(verdict.summary, "no quorum: nobody leads; 2 of 3 voters still follow");
}

TEST(HealthVerdict, ALeaderThatIsSilentToUsMayStillLead) {
  const HealthVerdict verdict =
      judged({silent("a", WordResult::no_answer), server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::warning);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_EQ(verdict.leader, "");
}

// With leaderServes=no, a leader says that it does not serve.
TEST(HealthVerdict, ALeaderThatServesNoClientsLeadsAllTheSame) {
  const HealthVerdict verdict = judged(
      {silent("a", WordResult::not_serving), server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::ok) << findings(verdict);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_EQ(verdict.leader, "a:2181");
  EXPECT_TRUE(verdict.summary.starts_with("quorum: a:2181 leads and serves no clients, 2 follow")) << verdict.summary;
  EXPECT_EQ(findings(verdict), "ok: not serving: a:2181, which leads (leaderServes=no); ");
}

// A missing server may lead, or be about to elect another leader.
TEST(HealthVerdict, WhetherSomebodyLeadsUnseenIsNotGuessedIfOthersAreMissing) {
  const HealthVerdict verdict = judged(
      {silent("a", WordResult::not_serving), server("b", "3.9.3", "follower"), silent("c", WordResult::refused)});
  EXPECT_EQ(verdict.level, Level::unknown);
  EXPECT_EQ(verdict.quorum, std::nullopt);
}

// With group.N and weight.N, 1 of 3 may be a quorum.
TEST(HealthVerdict, VotersWithWeightsAreNotCounted) {
  const ServerHealth leader = changed("a", "leader", "conf", "membership:", "membership:\nweight.1=3\nweight.2=1");
  const HealthVerdict verdict = judged({leader, silent("b", WordResult::refused), silent("c", WordResult::refused)});
  EXPECT_EQ(verdict.level, Level::warning) << findings(verdict);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_NE(findings(verdict).find("the voters have weights"), std::string::npos);
}

HealthVerdict probed(const std::vector<ServerHealth>& servers, Probe probe = {"/p", 5ms, 1ms, "", true}) {
  return judge_health(servers, {}, probe);
}

// Only a quorum grants a lock.
TEST(HealthVerdict, AProbeThatWasGrantedProvesAQuorum) {
  const HealthVerdict gone =
      probed({server("a", "3.9.3", "leader"), silent("b", WordResult::refused), silent("c", WordResult::not_serving)});
  EXPECT_EQ(gone.quorum, true);
  EXPECT_EQ(gone.level, Level::warning) << gone.summary;
  const HealthVerdict following =
      probed({silent("a", WordResult::refused), server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(following.quorum, true);
  EXPECT_EQ(following.level, Level::warning) << following.summary;
  const HealthVerdict none = probed({silent("a", WordResult::not_serving), silent("b", WordResult::refused)});
  EXPECT_EQ(none.quorum, true);
  EXPECT_EQ(none.level, Level::warning) << none.summary;
  EXPECT_EQ(none.summary.find("no quorum"), std::string::npos);
  const HealthVerdict strange = probed({silent("a", WordResult::foreign)});
  EXPECT_EQ(strange.quorum, true);
  EXPECT_EQ(strange.level, Level::unknown);
}

TEST(HealthVerdict, AProbeThatCouldNotBeGivenBackWasGranted) {
  Probe probe{"/p", 5ms, 1ms, "cannot give /p back"};
  const std::vector<ServerHealth> servers{silent("a", WordResult::refused), silent("b", WordResult::refused)};
  EXPECT_EQ(probed(servers, probe).quorum, false);
  probe.granted = true;
  EXPECT_EQ(probed(servers, probe).quorum, true);
  EXPECT_EQ(probed(servers, probe).level, Level::critical);
}

TEST(HealthVerdict, ReadOnlyModeIsNoQuorum) {
  const HealthVerdict verdict = judged({terse("a", "read-only"), silent("b", WordResult::refused)});
  EXPECT_EQ(verdict.level, Level::critical);
  EXPECT_EQ(verdict.quorum, false);
  EXPECT_NE(findings(verdict).find("read-only: a:2181"), std::string::npos);
}

TEST(HealthVerdict, AVoterCountThatDoesNotMatchTheServersNamedIsSaid) {
  const HealthVerdict one = judged({server("b", "3.9.3", "follower")});
  EXPECT_EQ(one.level, Level::ok);
  EXPECT_EQ(findings(one), "ok: the ensemble has 3 voters, but 1 was asked; ");
  const HealthVerdict two = judged({server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower")});
  EXPECT_EQ(two.level, Level::warning);
  EXPECT_EQ(findings(two), "warning: the ensemble has 3 voters, but 2 were asked; ");
}

// After a reconfiguration, a follower may not know the new number yet.
TEST(HealthVerdict, HowManyVoteIsTakenFromTheLeaderWhoeverIsAskedFirst) {
  ServerHealth leader = server("b", "3.9.3", "leader");
  leader.voters = 5;
  const HealthVerdict verdict = judged({server("a", "3.9.3", "follower"), leader, server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.voters, 5);
}

TEST(HealthVerdict, ObserversAreNoVoters) {
  const HealthVerdict verdict = judged({server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower"),
                                        server("c", "3.9.3", "follower"), terse("d", "observer")});
  EXPECT_EQ(verdict.level, Level::ok) << findings(verdict);
  EXPECT_NE(verdict.summary.find("1 observing"), std::string::npos);
}

TEST(HealthVerdict, AnObserverThatIsMissingDoesNotCountAsAVoter) {
  const HealthVerdict verdict = judged({server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower"),
                                        server("c", "3.9.3", "follower"), silent("d", WordResult::refused)});
  EXPECT_EQ(verdict.level, Level::warning);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_EQ(findings(verdict), "warning: missing: d:2181 (connection refused); ");
}

// The leader is not among the servers asked.
TEST(HealthVerdict, FollowersBesideAnObserverThatIsMissingAreAQuorum) {
  const char* others = "server.4=zk4:2888:3888:observer;0.0.0.0:2181\nserver.1=";
  std::vector<ServerHealth> servers;
  for (const char* host : {"zk2", "zk3"}) {
    servers.push_back(changed(host, "follower", "conf", "server.1=", others));
  }
  servers.push_back(silent("zk4", WordResult::refused));
  const HealthVerdict verdict = judged(servers);
  EXPECT_EQ(verdict.level, Level::warning) << verdict.summary;
  EXPECT_EQ(verdict.quorum, true);
  servers.back() = silent("zk4", WordResult::not_serving);
  EXPECT_EQ(judged(servers).leader, "");
  servers.back() = silent("zk1", WordResult::refused);
  EXPECT_EQ(judged(servers).level, Level::critical);
}

TEST(HealthVerdict, AnObserverThatIsSilentDoesNotHideThatNobodyLeads) {
  const char* others = "server.4=zk4:2888:3888:observer;0.0.0.0:2181\nserver.1=";
  const HealthVerdict verdict =
      judged({changed("zk2", "follower", "conf", "server.1=", others), silent("zk1", WordResult::refused),
              silent("zk3", WordResult::refused), silent("zk4", WordResult::no_answer)});
  EXPECT_EQ(verdict.level, Level::critical) << verdict.summary;
  EXPECT_EQ(verdict.quorum, false);
}

TEST(HealthVerdict, MoreServersThanTheEnsembleHasVotersIsSaid) {
  const HealthVerdict verdict = judged({server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower"),
                                        server("c", "3.9.3", "follower"), server("d", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::warning);
  EXPECT_NE(findings(verdict).find("the ensemble has 3 voters, but 4"), std::string::npos);
}

ServerHealth leader_with_mntr(const std::string& from, const std::string& to) {
  return changed("a", "leader", "mntr", from, to);
}

TEST(HealthVerdict, FollowersThatAreNotInSyncAreSeenWhereNumbersHaveAPoint) {
  const HealthVerdict verdict = judged({leader_with_mntr("zk_synced_followers\t2", "zk_synced_followers\t1.0"),
                                        server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::warning) << findings(verdict);
  EXPECT_EQ(verdict.in_sync, 2);
}

// An unreadable count differs from a missing one.
TEST(HealthVerdict, ACountThatCannotBeReadIsUnknownAndNotOk) {
  const HealthVerdict verdict = judged({leader_with_mntr("zk_synced_followers\t2", "zk_synced_followers\ttwo\x1b"),
                                        server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::unknown);
  EXPECT_EQ(verdict.quorum, true);
  EXPECT_EQ(findings(verdict), "unknown: not understood: a:2181: zk_synced_followers is 'two\\x1b'; ");
}

TEST(HealthVerdict, ASettingThatCannotBeReadIsUnknown) {
  const HealthVerdict verdict = judged({server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower"),
                                        changed("c", "follower", "conf", "tickTime=", "tickTime=x")});
  EXPECT_EQ(verdict.level, Level::unknown) << findings(verdict);
  EXPECT_NE(findings(verdict).find("not understood: c:2181: tickTime is 'x"), std::string::npos);
}

TEST(HealthVerdict, AWordThatIsCutShortIsUnknown) {
  const std::string whole = reply_of("3.9.3", "leader", "mntr");
  const ServerHealth leader = ServerHealth::of(
      {reply("a", "srvr", reply_of("3.9.3", "leader", "srvr")), reply("a", "mntr", whole.substr(0, whole.size() / 3))});
  const HealthVerdict verdict = judged({leader, server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::unknown) << findings(verdict);
  EXPECT_NE(findings(verdict).find("not understood: a:2181: mntr: "), std::string::npos);
}

TEST(HealthVerdict, AMntrWithoutTheCountSaysThatSyncIsNotKnown) {
  const HealthVerdict verdict = judged({leader_with_mntr("zk_synced_followers", "zk_other"),
                                        server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::ok);
  EXPECT_NE(findings(verdict).find("how many are in sync is not known: a:2181: mntr does not tell"), std::string::npos);
}

TEST(HealthVerdict, ALimitThatCannotBeComparedIsUnknown) {
  const ServerHealth vague = changed("a", "leader", "srvr", "Latency min/avg/max: ", "Latency min/avg/max: about ");
  EXPECT_EQ(judged({vague}).level, Level::ok) << findings(judged({vague}));
  EXPECT_EQ(judged({vague}, {1s, {}, {}}).level, Level::unknown);
  const ServerHealth full = changed("a", "leader", "srvr", "Outstanding: ", "Outstanding: about ");
  EXPECT_EQ(judged({full}, {{}, 1000, {}}).level, Level::unknown);
}

TEST(HealthVerdict, FollowersThatAreNotInSyncAreAWarning) {
  ServerHealth leader = server("a", "3.9.3", "leader");
  for (auto& [name, value] : leader.mntr.items) {
    if (name == "zk_synced_followers") value = "1";
  }
  const HealthVerdict verdict = judged({leader, server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.level, Level::warning);
  EXPECT_NE(findings(verdict).find("not in sync with the leader: 1 of its followers"), std::string::npos);
}

// Two servers vote and are in sync; the third follows without a vote.
TEST(HealthVerdict, AFollowerThatDoesNotVoteIsNoVoterInSync) {
  ServerHealth leader = server("a", "3.9.3", "leader");
  bool known = false;
  for (auto& [name, value] : leader.mntr.items) {
    if (name == "zk_synced_followers") value = "2";
    if (name == "zk_synced_non_voting_followers") value = "1", known = true;
  }
  if (!known) leader.mntr.items.emplace_back("zk_synced_non_voting_followers", "1");
  const HealthVerdict verdict = judged({leader, server("b", "3.9.3", "follower"), server("c", "3.9.3", "follower")});
  EXPECT_EQ(verdict.in_sync, 2);
  EXPECT_EQ(verdict.level, Level::warning);
  EXPECT_NE(findings(verdict).find("only 2 of 3 voters are in sync"), std::string::npos) << findings(verdict);
}

TEST(HealthVerdict, ACountThatIsTooLargeForServersIsNone) {
  ServerHealth leader = server("a", "3.9.3", "leader");
  for (auto& [name, value] : leader.mntr.items) {
    if (name == "zk_synced_followers") value = "9223372036854775807";
  }
  EXPECT_EQ(judged({leader}).in_sync, std::nullopt);
}

TEST(HealthVerdict, OneServerAloneIsWellAndSeveralAreNot) {
  EXPECT_EQ(judged({terse("a", "standalone")}).level, Level::ok);
  EXPECT_EQ(judged({terse("a", "standalone")}).quorum, true);
  EXPECT_EQ(judged({terse("a", "standalone"), terse("b", "standalone")}).level, Level::critical);
  EXPECT_EQ(judged({terse("a", "leader"), terse("b", "follower"), terse("c", "standalone")}).level, Level::critical);
}

TEST(HealthVerdict, OfTwoLeadersTheLaterOneCounts) {
  const HealthVerdict verdict = judged({terse("a", "leader", "0x100000005"), terse("b", "leader", "0x200000001"),
                                        terse("c", "follower", "0x200000001")});
  EXPECT_EQ(verdict.leader, "b:2181");
  EXPECT_EQ(verdict.level, Level::critical);
}

TEST(HealthVerdict, ModesThatAreNotKnownDoNotServe) {
  const ServerHealth strange = terse("a", "dreaming\x1b");
  EXPECT_EQ(state_of(strange), "strange");
  EXPECT_EQ(strange.trouble, "its mode is 'dreaming\\x1b'");
  EXPECT_EQ(judged({strange}).level, Level::critical);
}

TEST(HealthVerdict, Thresholds) {
  const std::vector<ServerHealth> servers{server("a", "3.9.3", "leader"), server("b", "3.9.3", "follower"),
                                          server("c", "3.9.3", "follower")};
  EXPECT_EQ(judged(servers, {500us, {}, {}}).level, Level::warning);
  EXPECT_EQ(judged(servers, {1ms, {}, {}}).level, Level::ok);
  EXPECT_EQ(judged(servers, {{}, 1, {}}).level, Level::warning);
  EXPECT_EQ(judged(servers, {{}, 2, {}}).level, Level::ok);
  EXPECT_EQ(judged(servers, {{}, {}, 3}).level, Level::ok);
  const HealthVerdict few = judged({servers[0], servers[1], silent("c", WordResult::refused)}, {{}, {}, 3});
  EXPECT_EQ(few.level, Level::critical);
  EXPECT_NE(findings(few).find("critical: only 2 of 3 serve, 3 wanted"), std::string::npos);
}

TEST(HealthVerdict, AProbeThatFailsIsCritical) {
  EXPECT_EQ(judge_health({terse("a", "standalone")}, {}, Probe{"/p", 5ms, 1ms, "no answer"}).level, Level::critical);
  EXPECT_EQ(judge_health({terse("a", "standalone")}, {}, Probe{"/p", 5ms, 1ms, "", true}).level, Level::ok);
}

}  // namespace health_verdict_test
}  // namespace zklock::command
