// SPDX-License-Identifier: Apache-2.0
// Is the ensemble well? The verdict comes from what each of its servers says of itself. Pure.
#include "base/text.h"
#include "command/health/health.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using zk::WordResult;

// "Unknown" ranks above "warning" and below "critical".
Level worse(Level a, Level b) {
  const auto rank = [](Level level) { return level == Level::critical ? 4 : static_cast<int>(level); };
  return rank(a) >= rank(b) ? a : b;
}

// Averages are often below a millisecond, which format_duration rounds.
std::string limit_of(Duration latency) {
  const double millis = milliseconds_of(latency);
  return millis < 1 ? fmt::format("{:.4g}ms", millis) : format_duration(latency);
}

class Judge {
 public:
  Judge(const std::vector<ServerHealth>& servers, const std::optional<Probe>& probe)
      : servers_(servers), proved_(probe && probe->granted) {}

  HealthVerdict judge(const Thresholds& thresholds, const std::optional<Probe>& probe) {
    verdict_.serving = std::ranges::count_if(servers_, &ServerHealth::serves);
    find_leader();
    find_unseen_leader();
    count_voters();
    if (leader_ || count(Role::follower) + count(Role::observer) > 0) {
      judge_ensemble();
    } else if (count(Role::standalone) > 0) {
      judge_standalone();
    } else {
      judge_nobody();
    }
    judge_missing();
    judge_voters();
    judge_unread();
    check_limits(thresholds);
    std::ranges::move(judge_settings(servers_), std::back_inserter(verdict_.findings));
    verdict_.advice = advise(servers_, weighs_voters() ? 0 : verdict_.voters.value_or(0));
    if (probe) judge_probe(*probe);
    for (const Finding& finding : verdict_.findings) verdict_.level = worse(verdict_.level, finding.level);
    return std::move(verdict_);
  }

 private:
  void find_leader();
  void find_unseen_leader();
  void count_voters();
  void judge_ensemble();
  std::string count_followers();
  void doubt_quorum();
  void deny_quorum(int64_t voting, int64_t voters);
  bool knows_all() const;
  void judge_standalone();
  void judge_nobody();
  void judge_up(int64_t up);
  void judge_missing();
  void judge_voters();
  void judge_unread();
  void check_limits(const Thresholds& thresholds);
  void judge_probe(const Probe& probe);

  int64_t count(Role role) const { return std::ranges::count(servers_, role, &ServerHealth::role); }
  int64_t asked() const { return static_cast<int64_t>(servers_.size()); }
  // Returns how many of the servers asked may vote.
  int64_t asked_voters() const {
    return std::ranges::count_if(servers_, [&](const auto& s) { return s.role() != Role::standalone && !observes(s); });
  }
  bool observes(const ServerHealth& server) const;
  int64_t majority() const { return verdict_.voters.value_or(asked_voters()) / 2 + 1; }
  bool weighs_voters() const { return std::ranges::any_of(servers_, &ServerHealth::weighs_voters); }
  // Returns how many of the servers asked may vote and do not serve.
  int64_t missing_voters() const {
    return std::ranges::count_if(servers_, [&](const auto& s) { return !s.serves() && !observes(s); });
  }
  bool leads_unseen() const { return unseen_leader_ && missing_voters() == 1; }
  template <typename... Args>
  void find(Level level, fmt::format_string<Args...> text, Args&&... args) {
    verdict_.findings.push_back({level, fmt::format(text, std::forward<Args>(args)...)});
  }

  const std::vector<ServerHealth>& servers_;
  const bool proved_;  // the probe proves a quorum
  const ServerHealth* leader_ = nullptr;
  const ServerHealth* unseen_leader_ = nullptr;  // may lead, though it serves no clients
  HealthVerdict verdict_;
};

// A server that does not serve may be known to the others as an observer, if they call it as we do.
bool Judge::observes(const ServerHealth& server) const {
  if (server.serves()) return server.role() == Role::observer;
  const std::string host = server.address.substr(0, server.address.rfind(':'));
  const auto tells = [](const auto& s) { return s.serves() && !s.conf.items.empty(); };
  const auto agrees = [&](const auto& s) { return !tells(s) || zk::has_only_observer(s.conf, host); };
  return std::ranges::any_of(servers_, tells) && std::ranges::all_of(servers_, agrees);
}

// If two servers say that they lead, the one with the later epoch counts: the other has not noticed yet that it has no
// followers any more.
void Judge::find_leader() {
  const auto epoch = [](const ServerHealth& server) { return zk::parse_zxid(server.status.zxid).value_or(0); };
  for (const ServerHealth& server : servers_) {
    if (server.role() == Role::leader && (!leader_ || epoch(server) > epoch(*leader_))) leader_ = &server;
  }
  if (!leader_) return;
  verdict_.leader = leader_->address;
  if (const int64_t leaders = count(Role::leader); leaders > 1) {
    find(Level::critical,
         "{} servers say that they lead: they are of different ensembles, or one has just lost its followers", leaders);
  }
}

// With leaderServes=no the leader says that it does not serve. If others follow and none of them leads, a server that
// says so may lead. If all others serve, it does lead.
void Judge::find_unseen_leader() {
  if (leader_ || count(Role::follower) == 0) return;
  for (const ServerHealth& server : servers_) {
    if (server.result == WordResult::not_serving && !observes(server)) unseen_leader_ = &server;
  }
  if (leads_unseen()) verdict_.leader = unseen_leader_->address;
}

void Judge::count_voters() {
  for (const ServerHealth& server : servers_) {
    if (server.voters && (&server == leader_ || !verdict_.voters)) verdict_.voters = server.voters;
  }
}

void Judge::judge_ensemble() {
  verdict_.quorum = true;
  const std::string synced = count_followers();
  const int64_t following = verdict_.following;
  const char* follow = following == 1 ? "follows" : "follow";
  if (leader_) {
    verdict_.summary = fmt::format("quorum: {} leads, {} {}{}", verdict_.leader, following, follow, synced);
  } else if (leads_unseen()) {
    verdict_.summary = fmt::format("quorum: {} leads and serves no clients, {} {}", verdict_.leader, following, follow);
  } else {
    verdict_.summary = fmt::format("quorum: {} {} a leader that was not asked or does not answer", following, follow);
  }
  if (const int64_t observers = count(Role::observer)) verdict_.summary += fmt::format(", {} observing", observers);
  if (verdict_.voters) verdict_.summary += fmt::format("; voters {}", *verdict_.voters);
  doubt_quorum();
  if (const int64_t alone = count(Role::standalone)) {
    find(Level::critical, "standalone, so no part of this ensemble: {} of those asked", alone);
  }
}

// Counts the followers by the leader's own figures: zk_learners since 3.6, before that zk_followers. Both include
// observers. Returns what to say of the followers in sync.
std::string Judge::count_followers() {
  verdict_.following = count(Role::follower);
  if (!leader_) return "";
  const zk::Fields& mntr = leader_->mntr;
  const auto learners = count_in(mntr, "zk_learners") ? count_in(mntr, "zk_learners") : count_in(mntr, "zk_followers");
  const int64_t observers = count_in(mntr, "zk_synced_observers").value_or(count(Role::observer));
  if (learners) verdict_.following = std::max<int64_t>(0, *learners - observers);
  const auto synced = count_in(mntr, "zk_synced_followers");
  if (!synced) {
    const std::string& why = leader_->mntr_trouble;
    if (leader_->unread().empty()) {
      find(Level::ok, "how many are in sync is not known: {}: {}", verdict_.leader,
           why.empty() ? "mntr does not tell" : why);
    }
    return "";
  }
  verdict_.in_sync = 1 + *synced - count_in(mntr, "zk_synced_non_voting_followers").value_or(0);
  const int64_t behind = verdict_.following - *synced;
  if (behind > 0) find(Level::warning, "not in sync with the leader: {} of its followers", behind);
  return fmt::format(", {} in sync", *synced);
}

// Counts the voters that serve, unless the probe was granted, which only a quorum does. Only the leader may be part of
// a quorum and not serve.
void Judge::doubt_quorum() {
  const int64_t voters = verdict_.voters.value_or(asked_voters());
  const int64_t voting = count(Role::leader) + count(Role::follower) + (unseen_leader_ ? 1 : 0);
  if (proved_ || asked_voters() < voters) return;
  const bool nobody_leads = !leader_ && !unseen_leader_;
  if (knows_all() && (nobody_leads || (voting < majority() && !weighs_voters()))) return deny_quorum(voting, voters);
  if (unseen_leader_ && !leads_unseen()) {
    verdict_.quorum.reset();
    find(Level::unknown, "whether {} leads without serving clients (leaderServes=no) is not known",
         unseen_leader_->address);
  }
  if (voting >= (weighs_voters() ? voters : majority())) return;
  if (weighs_voters())
    return find(Level::ok, "the voters have weights: whether those that serve are a quorum is not counted");
  find(Level::critical, "only {} of {} voters answer", voting, voters);
}

// Returns whether we know every server that may be part of a quorum. A server that refuses connections, or says that it
// does not serve, is not, though leader and followers take up to syncLimit ticks to notice. A silent one may be. How
// many voters there are, and whether they have weights, is in conf.
bool Judge::knows_all() const {
  const bool silent = std::ranges::any_of(servers_, [this](const auto& s) {
    return !s.serves() && s.role() != Role::read_only && s.result != WordResult::refused &&
           s.result != WordResult::not_serving && !observes(s);
  });
  const bool described = std::ranges::any_of(servers_, [](const auto& s) { return !s.conf.items.empty(); });
  return verdict_.voters && described && !silent;
}

void Judge::deny_quorum(int64_t voting, int64_t voters) {
  verdict_.quorum = false;
  verdict_.level = Level::critical;
  verdict_.summary =
      leader_ ? fmt::format("no quorum: {} says that it leads, but only {} of {} voters serve", verdict_.leader, voting,
                            voters)
              : fmt::format("no quorum: nobody leads; {} of {} voters still follow", count(Role::follower), voters);
}

void Judge::judge_standalone() {
  verdict_.quorum = true;
  verdict_.summary = "standalone: a server without an ensemble";
  const int64_t alone = count(Role::standalone);
  if (alone > 1) find(Level::critical, "{} servers are standalone: they are no ensemble", alone);
}

void Judge::judge_nobody() {
  const auto is_up = [](const auto& s) {
    return s.result == WordResult::answered || s.result == WordResult::not_serving;
  };
  const auto is_strange = [](const auto& s) {
    return s.result == WordResult::closed || s.result == WordResult::cut_short || s.result == WordResult::foreign ||
           s.result == WordResult::not_allowed;
  };
  if (proved_) verdict_.quorum = true;
  if (std::ranges::all_of(servers_, is_strange)) {
    verdict_.summary = "no server gave a reply that tells";
    verdict_.level = Level::unknown;
    return;
  }
  if (proved_) {
    verdict_.summary =
        fmt::format("quorum: it has granted the probe's lock, but none of {} says that it serves", asked());
    return;
  }
  judge_up(std::ranges::count_if(servers_, is_up));
}

// Call it only if none of them serves.
void Judge::judge_up(int64_t up) {
  verdict_.quorum = false;
  verdict_.level = Level::critical;
  if (up == 0) {
    verdict_.summary = fmt::format("no quorum: none of {} answers", asked());
  } else if (asked() == 1) {
    // The ensemble may have no other servers, or they may have a quorum without this one.
    verdict_.quorum.reset();
    verdict_.summary =
        "not serving: the server is up, but it is starting, electing a leader or does not reach the others";
  } else if (up >= majority() || weighs_voters()) {
    verdict_.summary =
        fmt::format("not serving: {} of {} are up, but they are starting, electing a leader or do not reach each other",
                    up, asked());
  } else {
    verdict_.summary = fmt::format("no quorum: only {} of {} up", up, asked());
  }
}

void Judge::judge_missing() {
  for (const ServerHealth& server : servers_) {
    if (server.serves()) continue;
    verdict_.missing.push_back(server.address);
    if (server.role() == Role::read_only) {
      find(Level::warning, "read-only: {} (it does not reach the others)", server.address);
    } else if (leads_unseen() && &server == unseen_leader_) {
      find(Level::ok, "not serving: {}, which leads (leaderServes=no)", server.address);
    } else if (server.result == WordResult::not_serving) {
      find(Level::warning, "not serving: {}", server.address);
    } else {
      find(Level::warning, "missing: {} ({})", server.address, server.trouble);
    }
  }
}

void Judge::judge_voters() {
  if (!verdict_.voters) return;
  const int64_t voters = *verdict_.voters;
  // A missing server may be no voter.
  const int64_t missing = missing_voters();
  if (asked_voters() < voters || asked_voters() - missing > voters) {
    // With one server asked, the question is only about that one.
    find(asked() == 1 ? Level::ok : Level::warning, "the ensemble has {} voters, but {} {} asked", voters,
         asked_voters(), asked_voters() == 1 ? "was" : "were");
  }
  if (verdict_.in_sync && *verdict_.in_sync < voters - missing) {
    find(Level::warning, "only {} of {} voters are in sync", *verdict_.in_sync, voters);
  }
}

// A value that counts for the verdict and cannot be understood must not be taken for an absent one.
void Judge::judge_unread() {
  for (const ServerHealth& server : servers_) {
    if (!server.serves()) continue;
    for (const std::string& what : server.unread()) {
      find(Level::unknown, "not understood: {}: {}", server.address, what);
    }
  }
}

void Judge::check_limits(const Thresholds& thresholds) {
  if (thresholds.servers && verdict_.serving < *thresholds.servers) {
    find(Level::critical, "only {} of {} serve, {} wanted", verdict_.serving, asked(), *thresholds.servers);
  }
  for (const ServerHealth& server : servers_) {
    const auto& latency = server.status.latency_ms;
    if (server.serves() && thresholds.latency && !latency) {
      find(Level::unknown, "{}: its average latency is not known", server.address);
    }
    if (latency && thresholds.latency && latency->average > milliseconds_of(*thresholds.latency)) {
      find(Level::warning, "{}: average latency {:.4g}ms, more than {}", server.address, latency->average,
           limit_of(*thresholds.latency));
    }
    const auto outstanding = server.status.outstanding;
    if (server.serves() && thresholds.outstanding && !outstanding) {
      find(Level::unknown, "{}: how many requests wait is not known", server.address);
    }
    if (outstanding && thresholds.outstanding && *outstanding > *thresholds.outstanding) {
      find(Level::warning, "{}: {} requests wait, more than {}", server.address, *outstanding, *thresholds.outstanding);
    }
  }
}

void Judge::judge_probe(const Probe& probe) {
  if (!probe.trouble.empty()) return find(Level::critical, "probe: {}", probe.trouble);
  find(Level::ok, "probe: {} taken in {}, given back in {}", probe.path, format_duration(probe.taken),
       format_duration(probe.released));
}

}  // namespace

const char* name_of(Level level) {
  constexpr const char* kNames[] = {"ok", "warning", "critical", "unknown"};
  return kNames[static_cast<size_t>(level)];
}

host::Colour colour_of(Level level) {
  if (level == Level::ok) return host::Colour::green;
  return level == Level::critical ? host::Colour::red : host::Colour::yellow;
}

HealthVerdict judge_health(const std::vector<ServerHealth>& servers, const Thresholds& thresholds,
                           const std::optional<Probe>& probe) {
  return Judge(servers, probe).judge(thresholds, probe);
}

}  // namespace zklock::command
