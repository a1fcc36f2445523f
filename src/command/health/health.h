// SPDX-License-Identifier: Apache-2.0
// zklock health: is the ensemble well? What servers say of themselves is read (server_health.cc) and judged
// (verdict.cc), and their settings too (advice.cc). The verdict is reported for people and programs (report.cc),
// monitoring plugins and Prometheus (metrics.cc). All is pure, but for the subcommand.
#pragma once

#include "command/cli/subcommand.h"
#include "host/terminal.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// Adds the options of the subcommand, whose exit status is a Level.
Execute add_health(CLI::App& app, GlobalOptions& global);

enum class Role { none, leader, follower, observer, standalone, read_only };  // none: no reply, or an unknown mode

// The client address with the most connections to a server.
struct BusiestClient {
  std::string address;
  int64_t connections = 0;
};

// Returns the busiest client in a reply to cons; nothing if there are no clients.
std::optional<BusiestClient> busiest_in(std::string_view cons);

// Packets per second since the look before.
struct Rates {
  double received = 0;
  double sent = 0;
};

// One server, as far as it has described itself in one look.
struct ServerHealth {
  std::string address;
  zk::WordResult result = zk::WordResult::no_answer;  // of srvr
  std::string trouble;                                // in words, if srvr gave nothing usable
  std::string mntr_trouble;                           // in words, if mntr gave nothing
  std::vector<std::string> lost;                      // the allowed words without an answer: "conf: no answer"
  zk::ServerStatus status;
  zk::Fields mntr;                       // empty without a proper reply
  zk::Fields conf;                       // empty without a proper reply
  std::optional<int64_t> voters;         // of the ensemble, as this server knows it
  Duration took{};                       // srvr
  std::optional<Rates> rates;            // nothing: unknown
  std::optional<BusiestClient> busiest;  // if cons was asked

  // Reads the replies to srvr, mntr and conf, in that order. There is at least one; later ones may be missing.
  static ServerHealth of(const std::vector<zk::WordReply>& replies);

  Role role() const;
  bool serves() const { return role() != Role::none && role() != Role::read_only; }
  // Returns whether the voters have weights or are in groups, so that their number does not decide about a quorum.
  bool weighs_voters() const;
  // Returns as text what counts for the verdict and was not reported or cannot be understood. A four-letter word that
  // the server does not allow is left out.
  std::vector<std::string> unread() const;
};

// Returns the count `name`; nothing if there is none. Servers count each other in an int: a larger number is not a
// count.
std::optional<int64_t> count_in(const zk::Fields& mntr, std::string_view name);

// Returns "serving", "read-only", "strange" for an unknown mode, else the result's name.
std::string state_of(const ServerHealth& health);

enum class Level { ok = 0, warning = 1, critical = 2, unknown = 3 };  // the exit status, as monitoring plugins have it

// Replaces every other status of zklock's own.
inline constexpr int kHealthFailureStatus = static_cast<int>(Level::unknown);

const char* name_of(Level level);
host::Colour colour_of(Level level);

// The outcome of taking a lock and giving it back.
struct Probe {
  std::string path;
  Duration taken{};      // to take the lock, connecting included
  Duration released{};   // to give it back
  std::string trouble;   // why it could not be taken or given back; empty: it could
  bool granted = false;  // it was taken, whatever happened then; only a quorum grants a lock
};

// The limits that the user has set; beyond them something is not well.
struct Thresholds {
  std::optional<Duration> latency;  // average
  std::optional<int64_t> outstanding;
  std::optional<int64_t> servers;  // at least so many must serve
};

struct Finding {
  Level level;
  std::string text;
};

struct HealthVerdict {
  Level level = Level::ok;
  std::optional<bool> quorum;       // nothing: unknown
  std::string summary;              // whether there is a quorum, the leader, the number of followers
  std::vector<Finding> findings;    // everything else
  std::vector<std::string> advice;  // what could be better; it does not change the level
  std::string leader;               // its address; empty: none of the servers asked leads
  std::optional<int64_t> voters;    // of the ensemble
  std::optional<int64_t> in_sync;   // voters, the leader included
  int64_t following = 0;
  int64_t serving = 0;               // of the servers asked
  std::vector<std::string> missing;  // the servers asked that do not serve
};

// Returns findings about settings that make locks less safe than they could be.
std::vector<Finding> judge_settings(const std::vector<ServerHealth>& servers);

// Returns what could be better in the settings and the limits to connections. `voters`: of the ensemble; 0: unknown, or
// their number does not decide.
std::vector<std::string> advise(const std::vector<ServerHealth>& servers, int64_t voters);

// Returns whether some client may be near maxClientCnxns. Only cons shows whether one is.
bool may_be_near_limit(const ServerHealth& server);

HealthVerdict judge_health(const std::vector<ServerHealth>& servers, const Thresholds& thresholds,
                           const std::optional<Probe>& probe);

// One look at the ensemble.
struct Checkup {
  Deadline at{};
  std::vector<ServerHealth> servers;
  std::optional<Probe> probe;
  HealthVerdict verdict;
};

// Returns the rates of a server between two looks, `span` apart; nothing if its counters are unknown or have started
// again.
std::optional<Rates> rates_between(const ServerHealth& before, const ServerHealth& now, Duration span);

// Returns a table, and below it the verdict; with rates once there are any. A terminal that is too narrow for all
// columns gets the most important ones.
std::string text_of(const Checkup& checkup, const host::Display& display = {});

// Returns a JSON object on a line.
std::string json_of(const Checkup& checkup);

// Returns a line with the verdict and performance data, as monitoring plugins print it.
std::string nagios_of(const Checkup& checkup, const Thresholds& thresholds);

// Returns the text format that Prometheus and its node exporter read.
std::string prometheus_of(const Checkup& checkup);

// Returns "warning: quorum: …; missing: …".
std::string line_of(const HealthVerdict& verdict);

}  // namespace zklock::command
