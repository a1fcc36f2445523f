// SPDX-License-Identifier: Apache-2.0
// zklock health: is the ensemble well? What servers say of themselves (server_health.cc) is judged (verdict.cc), their
// settings too (advice.cc), and reported for people and programs (report.cc), for monitoring plugins and for Prometheus
// (metrics.cc). All pure, but for the subcommand.
#pragma once

#include "command/cli/subcommand.h"
#include "host/terminal.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// The subcommand; its exit status is a Level.
Execute add_health(CLI::App& app, GlobalOptions& global);

enum class Role { none, leader, follower, observer, standalone, read_only };  // none: it does not serve

// The client's address with the most connections to a server.
struct BusiestClient {
  std::string address;
  int64_t connections = 0;
};

// From a reply to cons.
std::optional<BusiestClient> busiest_in(std::string_view cons);

// What a look at one server has shown, as far as it said it.
struct ServerHealth {
  std::string address;
  zk::WordResult result = zk::WordResult::no_answer;  // of srvr
  std::string trouble;                                // in words, where srvr tells nothing
  zk::WordResult mntr_result = zk::WordResult::not_allowed;
  std::string mntr_trouble;  // in words, where mntr tells nothing
  zk::WordResult conf_result = zk::WordResult::not_allowed;
  std::string conf_trouble;  // the same of conf
  zk::ServerStatus status;
  zk::Fields mntr;                       // empty where it is not allowed
  zk::Fields conf;                       // likewise
  std::optional<int64_t> voters;         // of the ensemble, as this server knows it
  Duration took{};                       // srvr
  std::optional<BusiestClient> busiest;  // where cons was asked

  // From the replies to srvr and then mntr and conf, as many as there are, at least one.
  static ServerHealth of(const zk::Server& server, const std::vector<zk::WordReply>& replies);

  Role role() const;
  bool serves() const { return role() != Role::none && role() != Role::read_only; }
  // The voters have weights or are in groups, so their number does not tell whether they are a quorum.
  bool weighs_voters() const;
  // What it should have said, or has said, that counts for the verdict and cannot be understood, each in words. A word
  // that it does not allow is not among them.
  std::vector<std::string> unread() const;
};

// Servers count each other in an int: what is more is no count.
std::optional<int64_t> count_in(const zk::Fields& mntr, std::string_view name);

// "serving", "read-only", "strange" for a mode that is not known, else the result's name.
std::string state_of(const ServerHealth& health);

enum class Level { ok = 0, warning = 1, critical = 2, unknown = 3 };  // the exit status, as monitoring plugins have it

// In place of every other status of zklock's own.
inline constexpr int kHealthFailureStatus = static_cast<int>(Level::unknown);

const char* name_of(Level level);

// What came of taking a lock and giving it back.
struct Probe {
  std::string path;
  Duration taken{};      // to take the lock, connecting included
  Duration released{};   // to give it back
  std::string trouble;   // why it could not be taken or given back
  bool granted = false;  // it was taken, whatever came then

  // Only a quorum grants a lock.
  bool proves_quorum() const { return granted || trouble.empty(); }
};

// What the user has set, beyond which something is not well.
struct Thresholds {
  std::optional<Duration> latency;  // average
  std::optional<int64_t> outstanding;
  std::optional<int64_t> servers;  // that serve
};

struct Finding {
  Level level;
  std::string text;
};

struct HealthVerdict {
  Level level = Level::ok;
  std::optional<bool> quorum;       // nothing: nobody could be understood
  std::string summary;              // quorum or not, who leads, how many follow
  std::vector<Finding> findings;    // and what else there is to say
  std::vector<std::string> advice;  // what could be better; the level does not count it
  std::string leader;               // empty: none of those asked
  std::optional<int64_t> voters;    // of the ensemble
  std::optional<int64_t> in_sync;   // voters, the leader included
  int64_t following = 0;
  int64_t serving = 0;               // of those asked
  std::vector<std::string> missing;  // those that do not serve
};

// Settings that make locks less safe than they could be.
std::vector<Finding> judge_settings(const std::vector<ServerHealth>& servers);

// What could be better, of the settings and of the limits to connections; of the ensemble as many voters are known, or
// 0.
std::vector<std::string> advise(const std::vector<ServerHealth>& servers, int64_t voters);

// Some client may be near maxClientCnxns: cons tells.
bool may_be_near_limit(const ServerHealth& server);

HealthVerdict judge_health(const std::vector<ServerHealth>& servers, const Thresholds& thresholds,
                           const std::optional<Probe>& probe);

// A second, since the look before.
struct Rates {
  double received = 0;
  double sent = 0;
};

// One look.
struct Checkup {
  Deadline at{};
  std::vector<ServerHealth> servers;
  std::vector<std::optional<Rates>> rates;  // one a server; nothing where they are not known
  std::optional<Probe> probe;
  HealthVerdict verdict;
};

// What two looks tell of one server; nothing where its counters began anew.
std::optional<Rates> rates_between(const ServerHealth& before, const ServerHealth& now, Duration span);

// A table, and below it the verdict; with rates once there are any. A terminal that is too narrow for all of it gets
// the columns that matter most.
std::string text_of(const Checkup& checkup, const host::Display& display = {});

// An object on a line.
std::string json_of(const Checkup& checkup);

// A line with the verdict and performance data, as monitoring plugins print it.
std::string nagios_of(const Checkup& checkup, const Thresholds& thresholds);

// The text format that Prometheus and its node exporter read.
std::string prometheus_of(const Checkup& checkup);

// "warning: quorum: …; missing: …"
std::string line_of(const HealthVerdict& verdict);

}  // namespace zklock::command
