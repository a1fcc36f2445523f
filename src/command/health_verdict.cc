// SPDX-License-Identifier: Apache-2.0
#include "command/health_verdict.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using zk::WordResult;
using Millis = std::chrono::duration<double, std::milli>;

// Nobody knows how it stands is worse than a warning and not as bad as to know that it stands badly.
Level worse(Level a, Level b) {
  const auto rank = [](Level level) { return level == Level::critical ? 4 : static_cast<int>(level); };
  return rank(a) >= rank(b) ? a : b;
}

std::string servers_text(int64_t count) {
  return count == 1 ? "1 server" : fmt::format("{} servers", count);
}

class Judge {
 public:
  Judge(const std::vector<ServerHealth>& servers, const Thresholds& thresholds)
      : servers_(servers), thresholds_(thresholds) {}

  Verdict judge(const std::optional<Probe>& probe) {
    verdict_.serving = std::count_if(servers_.begin(), servers_.end(), [](const auto& s) { return s.serves(); });
    look_at_leader();
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
    judge_thresholds();
    if (probe) judge_probe(*probe);
    for (const Finding& finding : verdict_.findings) verdict_.level = worse(verdict_.level, finding.level);
    return std::move(verdict_);
  }

 private:
  int64_t count(Role role) const {
    return std::count_if(servers_.begin(), servers_.end(), [&](const auto& s) { return s.role() == role; });
  }

  int64_t asked() const { return static_cast<int64_t>(servers_.size()); }

  void find(Level level, std::string text) { verdict_.findings.push_back({level, std::move(text)}); }

  // Of two, the one of the later epoch: the other has not noticed yet that nobody follows it any more.
  void look_at_leader() {
    const auto epoch = [](const ServerHealth& server) { return zk::parse_zxid(server.status.zxid).value_or(0); };
    for (const ServerHealth& server : servers_) {
      if (server.role() == Role::leader && (!leader_ || epoch(server) > epoch(*leader_))) leader_ = &server;
    }
    if (!leader_) return;
    verdict_.leader = to_string(leader_->server);
    if (count(Role::leader) > 1) {
      find(Level::critical, fmt::format("{} say that they lead: they belong to different ensembles, or all but one "
                                        "have just lost their followers",
                                        servers_text(count(Role::leader))));
    }
  }

  void count_voters() {
    for (const ServerHealth& server : servers_) {
      if (server.voters && (&server == leader_ || !verdict_.voters)) verdict_.voters = server.voters;
    }
  }

  // The leader's own counts: zk_learners since 3.6, before that zk_followers, observers among them in both.
  void judge_ensemble() {
    verdict_.quorum = true;
    verdict_.following = count(Role::follower);
    std::string synced = "";
    if (leader_) {
      const zk::Fields& mntr = leader_->mntr;
      const auto learners = mntr.number("zk_learners") ? mntr.number("zk_learners") : mntr.number("zk_followers");
      const int64_t observers = mntr.number("zk_synced_observers").value_or(count(Role::observer));
      if (learners) verdict_.following = std::max<int64_t>(0, *learners - observers);
      if (const auto in_sync = mntr.number("zk_synced_followers")) {
        synced = fmt::format(", {} in sync", *in_sync);
        verdict_.in_sync = 1 + *in_sync - mntr.number("zk_synced_non_voting_followers").value_or(0);
        if (*in_sync < verdict_.following) {
          find(Level::warning, fmt::format("{} of {} followers are not in sync with the leader",
                                           verdict_.following - *in_sync, verdict_.following));
        }
      } else if (!leader_->mntr_trouble.empty()) {
        find(Level::ok, fmt::format("how many are in sync is not known: {}: {}", verdict_.leader, leader_->mntr_trouble));
      }
    }
    const std::string lead = leader_ ? fmt::format("{} leads", verdict_.leader) : "the leader is not among those that answer";
    verdict_.summary = fmt::format("quorum: {}, {} {}{}", lead, verdict_.following,
                                   verdict_.following == 1 ? "follows" : "follow", synced);
    if (const int64_t observers = count(Role::observer)) verdict_.summary += fmt::format(", {} observing", observers);
    if (verdict_.voters) verdict_.summary += fmt::format("; voters {}", *verdict_.voters);
    if (const int64_t alone = count(Role::standalone)) {
      find(Level::critical, fmt::format("{} of the servers asked: no part of this ensemble (standalone)", alone));
    }
  }

  void judge_standalone() {
    verdict_.quorum = true;
    verdict_.summary = "standalone: a server without an ensemble";
    if (count(Role::standalone) > 1) {
      find(Level::critical, fmt::format("{} stand alone: they are no ensemble", servers_text(count(Role::standalone))));
    }
  }

  void judge_nobody() {
    const auto is_up = [](const auto& s) { return s.result == WordResult::answered || s.result == WordResult::not_serving; };
    const auto is_strange = [](const auto& s) {
      return s.result == WordResult::closed || s.result == WordResult::cut_short || s.result == WordResult::foreign ||
             s.result == WordResult::not_allowed;
    };
    const int64_t up = std::count_if(servers_.begin(), servers_.end(), is_up);
    if (std::all_of(servers_.begin(), servers_.end(), is_strange)) {
      verdict_.summary = "not known: no server gave a reply that tells";
      verdict_.level = Level::unknown;
      return;
    }
    verdict_.quorum = false;
    verdict_.level = Level::critical;
    const int64_t needed = verdict_.voters.value_or(asked()) / 2 + 1;
    if (up == 0) {
      verdict_.summary = fmt::format("no quorum: none of {} answers", servers_text(asked()));
    } else if (up >= needed || asked() == 1) {
      verdict_.summary = fmt::format("no quorum: {} of {} up, but not serving: {}", up, asked(),
                                     asked() == 1 ? "it is electing a leader, or cannot reach the others"
                                                  : "they are electing a leader, or cannot reach each other");
    } else {
      verdict_.summary = fmt::format("no quorum: only {} of {} up", up, asked());
    }
    if (const int64_t readable = count(Role::read_only)) {
      find(Level::critical, fmt::format("{} in read-only mode: reads what was before", servers_text(readable)));
    }
  }

  void judge_missing() {
    for (const ServerHealth& server : servers_) {
      if (server.serves()) continue;
      const std::string address = to_string(server.server);
      verdict_.missing.push_back(address);
      const bool readable = server.role() == Role::read_only;
      find(Level::warning, fmt::format("missing: {} ({})", address,
                                       readable ? "read-only mode: cut off from the others" : server.trouble));
    }
  }

  void judge_voters() {
    if (!verdict_.voters) return;
    const int64_t voters = *verdict_.voters;
    const int64_t named = asked() - count(Role::observer) - count(Role::standalone);
    if (named != voters) {
      // Who asks one server wants to know of that one.
      find(asked() == 1 ? Level::ok : Level::warning,
           fmt::format("the ensemble has {} voters, asked {} {}", voters, named == 1 ? "was" : "were", named));
    }
    const int64_t missing = static_cast<int64_t>(verdict_.missing.size());
    if (verdict_.in_sync && *verdict_.in_sync < voters - missing) {
      find(Level::warning, fmt::format("only {} of {} voters are in sync", *verdict_.in_sync, voters));
    }
  }

  void judge_thresholds() {
    if (thresholds_.servers && verdict_.serving < *thresholds_.servers) {
      find(Level::critical, fmt::format("{} of {} serve, fewer than {}", verdict_.serving, asked(), *thresholds_.servers));
    }
    for (const ServerHealth& server : servers_) {
      const std::string address = to_string(server.server);
      const auto& latency = server.status.latency_ms;
      if (latency && thresholds_.latency && latency->average > Millis(*thresholds_.latency).count()) {
        find(Level::warning, fmt::format("{}: average latency {:.4g}ms, more than {}", address, latency->average,
                                         format_duration(*thresholds_.latency)));
      }
      const auto outstanding = server.status.outstanding;
      if (outstanding && thresholds_.outstanding && *outstanding > *thresholds_.outstanding) {
        find(Level::warning, fmt::format("{}: {} requests outstanding, more than {}", address, *outstanding,
                                         *thresholds_.outstanding));
      }
    }
  }

  void judge_probe(const Probe& probe) {
    if (!probe.trouble.empty()) return find(Level::critical, fmt::format("probe: {}", probe.trouble));
    find(Level::ok, fmt::format("probe: {} taken in {}, given back in {}", probe.path, format_duration(probe.taken),
                                format_duration(probe.released)));
  }

  const std::vector<ServerHealth>& servers_;
  const Thresholds& thresholds_;
  const ServerHealth* leader_ = nullptr;
  Verdict verdict_;
};

}  // namespace

const char* name_of(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::warning:
      return "warning";
    case Level::critical:
      return "critical";
    case Level::unknown:
      return "unknown";
  }
  return "";
}

Verdict judge_health(const std::vector<ServerHealth>& servers, const Thresholds& thresholds,
                     const std::optional<Probe>& probe) {
  return Judge(servers, thresholds).judge(probe);
}

}  // namespace zklock::command
