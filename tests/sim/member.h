// SPDX-License-Identifier: Apache-2.0
// How the servers of an ensemble behave, and one server's part of the quorum.
#pragma once

#include "prepare.h"
#include "sessions.h"
#include "tree.h"
#include "world.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zklock::sim {

struct EnsembleOptions {
  int servers = 3;
  Time tick = 2 * second;
  int sync_limit = 5;           // ticks
  Time latency_min = 200 * us;  // between servers
  Time latency_max = 2 * ms;
  Time fsync_max = 5 * ms;
  Time apply_max = 1 * ms;             // until a leader has done itself what it has told its followers to commit
  int32_t min_timeout = 4000;          // ms
  int32_t max_timeout = 40000;         // ms
  Time container_check = 60 * second;  // how often containers that have become empty are removed; 0: never
  size_t jute_maxbuffer = 0xfffff;     // bytes; the connection of a larger request is closed

  // ZooKeeper 3.4: no create2, no containers, no word about read-only mode in the handshake.
  bool old = false;
  // ZOOKEEPER-2886, as of 3.6: a multi that comes through a server that is not the session's ends the connection.
  bool moved_closes = true;
  // ClickHouse Keeper: a read does not renew the session.
  bool slow_pings = false;
  // ClickHouse Keeper: a server that stops serving answers what it has not done with "session expired", though the
  // session may live.
  bool gives_up = false;
  // The chance that a request is not done but answered with -127.
  double throttles = 0;
  // ZOOKEEPER-4537, from 3.6 to 3.8.0: the chance that a server does not notice that something is committed until it
  // has something else to do: a request, or the next commit.
  double stalls = 0;
  double stalls_at_end = 0;  // the same where the transaction ends a session
};

// How much an ensemble has done.
struct EnsembleCounters {
  uint64_t requests = 0;
  uint64_t txns = 0;
  uint64_t elections = 0;
  uint64_t expiries = 0;
};

// What a server does with the decisions of its member; it stands for the part that clients are connected to.
class Application {
 public:
  virtual ~Application() = default;
  virtual void on_event(const Event& event) = 0;
  virtual void on_applied(const Txn& txn, const std::vector<std::string>& results) = 0;
  virtual void on_stop() = 0;  // it no longer serves
};

struct Member {
  enum class State { looking, following, leading };

  int id = 0;
  Application* application = nullptr;
  bool up = true;
  bool silent = false;  // down with its host
  State state = State::looking;
  uint64_t incarnation = 1;  // of its process
  uint64_t round = 1;        // of its state; what was begun in an earlier one is void
  Time paused_until = 0;

  // On disk. `epoch` is that of the last leader that it led as or followed; in elections it counts before the log.
  int64_t epoch = 0;
  std::vector<std::shared_ptr<const Txn>> log;
  size_t committed = 0;  // how many of them
  Tree tree;             // what these make
  size_t told = 0;       // how many of the log it was told to commit; more than `committed` while it stalls

  // While it leads or follows.
  int leader = -1;
  uint64_t leader_round = 0;
  int64_t half_ticks = 0;               // counted by itself, so not while it is paused
  int64_t asked_at = 0;                 // following: half tick of the leader's last request for a report
  std::map<int64_t, int32_t> touched;   // following: sessions heard since the last report, and their timeouts in ms
  std::map<int64_t, int32_t> reported;  // following: those of the last report
  int64_t reported_at = 0;

  // While it leads.
  Tree outstanding;    // what the whole log makes
  size_t decided = 0;  // how much of the log a majority has; `committed` follows
  int64_t last_zxid = 0;
  Sessions sessions;
  std::map<int, int64_t> heard;          // half tick of each follower's last report
  std::map<size_t, std::set<int>> acks;  // by index in the log
  std::map<int, std::deque<std::pair<size_t, std::function<void()>>>> syncs;  // by server: the log to wait for

  bool serves() const { return up && state != State::looking; }
  bool leads() const { return up && state == State::leading; }
  bool follows(const Member& other) const {
    return up && state == State::following && leader == other.id && leader_round == other.round;
  }
};

}  // namespace zklock::sim
