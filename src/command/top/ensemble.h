// SPDX-License-Identifier: Apache-2.0
// Asks for the state of the ensemble again and again, while other code turns the loop.
#pragma once

#include "command/health/health.h"
#include "host/loop.h"
#include "zk/words/query.h"

#include <optional>
#include <string>
#include <utility>

namespace zklock::command {

// Asks each server three four-letter words, with kPause between the rounds.
class EnsembleWatch : public host::Source {
 public:
  EnsembleWatch(host::Loop& loop, zk::ServersAsked servers) : loop_(loop), servers_(std::move(servers)) {}

  // Returns nothing before the first round is over. A round takes as long as the slowest server, at most kPatience.
  const std::optional<HealthVerdict>& verdict() const { return verdict_; }
  // Returns the average latency of the leader, or of a standalone server; nothing if it is unknown.
  std::optional<double> latency_ms() const { return latency_ms_; }

  void arm(host::PollSet& set) override;
  void decide() override;

 private:
  void ask();

  host::Loop& loop_;
  zk::ServersAsked servers_;
  Deadline next_ = BootClock::now();
  std::optional<zk::WordQuery> query_;
  std::optional<HealthVerdict> verdict_;
  std::optional<double> latency_ms_;
};

// Returns "warning: 2 of 3 serve, missing zk3:2181, zk1:2181 leads, 0.4 ms", followed by the rest of the verdict.
std::string line_of(const EnsembleWatch& ensemble);

}  // namespace zklock::command
