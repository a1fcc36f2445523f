// SPDX-License-Identifier: Apache-2.0
// Messages between the servers of an ensemble: in order, with latency, held up by partitions and pauses.
#pragma once

#include "member.h"

namespace zklock::sim {

class Links {
 public:
  using Action = std::function<void()>;

  // Both outlive it.
  Links(std::vector<Member>& members, const EnsembleOptions& options) : members_(members), options_(options) {}
  Links(const Links&) = delete;

  // `action` is what the message does at `to`. It is lost if one of them changes its state meanwhile.
  void send(int from, int to, Action action);
  // Nothing passes between `a` and `b` until `until`; what was sent arrives afterwards.
  void partition(int a, int b, Time until);
  bool reachable(int a, int b) const { return blocked_until(a, b) <= world->now; }
  // Messages from and to the server take up to `latency` longer.
  void slow(int server, Time latency, Time until) { slow_[server] = {latency, until}; }
  void heal();

 private:
  struct Message {
    Time arrives;
    uint64_t from_round;
    uint64_t to_round;
    Action action;
  };
  struct Way {
    std::deque<Message> messages;
    Time last = 0;        // when the last one arrives
    bool pumped = false;  // a call of deliver is due
  };
  Time blocked_until(int a, int b) const;
  Time latency(int from, int to);
  // When the message can be taken, now or later.
  Time due(const Message& message, int from, int to);
  bool is_void(const Message& message, int from, int to) const;
  void deliver(int from, int to);

  std::vector<Member>& members_;
  const EnsembleOptions& options_;
  std::map<std::pair<int, int>, Way> ways_;
  std::map<std::pair<int, int>, Time> blocked_;
  std::map<int, std::pair<Time, Time>> slow_;
};

}  // namespace zklock::sim
