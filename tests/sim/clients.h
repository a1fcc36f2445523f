// SPDX-License-Identifier: Apache-2.0
// A workload of clients. Each starts one zklock after the other, until storms are over and all is settled. Some of them
// get TERM.
#pragma once

#include "history.h"
#include "workloads.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zklock::sim {

// The zklock that a client has started last. A workload derives its own from it.
struct Client {
  Process* process = nullptr;
  Time until = kNever;     // it gets TERM then
  Time ended_at = kNever;  // when it got TERM
};

template <class Its>
class ClientWorkload : public Workload {
 public:
  // `subcommand`: "queue" or "group", before the words of each zklock; "": none.
  ClientWorkload(Simulation& simulation, std::string subcommand)
      : Workload(simulation), subcommand_(std::move(subcommand)) {}

  void begin() override {
    for (int number = 0; number < clients_; ++number) next(number, 0);
    const Time storms = simulation_.options().faults ? simulation_.options().storms : 0;
    world->in(storms + 3 * kReconnected, [this] { stopping_ = true; });
  }
  bool is_done() const override { return stopping_ && living_.empty(); }

 protected:
  using Words = std::vector<std::string>;
  using Check = std::function<void(const Process&)>;

  // Draws what the client's next zklock does, and calls start().
  virtual void start_any(int number, int round) = 0;
  // It has ended or was killed, and its status is not looked at yet. It may have ended with `allowed`, besides 0 and
  // what faults explain.
  virtual void on_end(Its& /*client*/, std::vector<int>& /*allowed*/) {}
  // It has ended by itself, and its status is one of these. Returns whether its own check is wanted.
  virtual bool passes(const Its& /*client*/) { return true; }
  virtual bool may_get_term(const Its& /*client*/) const { return true; }

  // `check` is not called after 69, TERM or a kill.
  Its& start(int number, int round, Words words, std::vector<int> allowed, Check check) {
    if (!subcommand_.empty()) words.insert(words.begin(), subcommand_);
    Process& process = simulation_.start_zklock(fmt::format("z{}.{}", number, round), std::move(words),
                                                [=, this](const Process&) { take_end(number, round, allowed, check); });
    Its& client = living_[number] = Its{};
    client.process = &process;
    return client;
  }

  // Sends TERM to those whose time has come, once. One that has just begun does not take signals yet.
  void end_those_due() {
    for (auto& [number, client] : living_) {
      const bool due = client.until != kNever && (stopping_ || world->now >= client.until);
      if (due && client.ended_at == kNever && world->now - client.process->started_at >= kNoticed &&
          may_get_term(client)) {
        client.process->send_signal(SIGTERM);
        client.ended_at = world->now;
      }
      if (simulation_.calm_for(kReconnected) && client.ended_at < world->now - 2 * kNoticed) {
        world->violation(client.process->name + " does not end after TERM");
      }
    }
  }

  int clients_ = 0;
  bool stopping_ = false;
  std::map<int, Its> living_;  // by the clients' numbers

 private:
  void next(int number, int round) {
    simulation_.start_later([this, number, round] {
      if (!stopping_) start_any(number, round);
    });
  }

  void take_end(int number, int round, std::vector<int> allowed, const Check& check) {
    Its& client = living_.at(number);
    const Process& process = *client.process;
    if (client.ended_at != kNever) allowed.push_back(128 + SIGTERM);
    on_end(client, allowed);
    simulation_.check_status(process, allowed);
    if (process.state == Process::State::ended && passes(client) && check && process.status != 69 &&
        process.status != 128 + SIGTERM) {
      check(process);
    }
    living_.erase(number);
    next(number, round + 1);
  }

  std::string subcommand_;
};

}  // namespace zklock::sim
