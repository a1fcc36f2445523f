// SPDX-License-Identifier: Apache-2.0
// How the ensemble is, asked again and again while others turn the loop.
#pragma once

#include "command/health/health.h"
#include "host/loop.h"
#include "zk/words/query.h"

#include <optional>
#include <string>
#include <utility>

namespace zklock::command {

// What it costs: three words to each server, every kPause.
class EnsembleWatch : public host::Source {
 public:
  EnsembleWatch(host::Loop& loop, zk::ServersAsked servers) : loop_(loop), servers_(std::move(servers)) {}

  // Nothing before the first replies, which take as long as the slowest server, at most kPatience.
  const std::optional<HealthVerdict>& verdict() const { return verdict_; }
  // The average latency of the leader, or of a server alone; nothing where it is not known.
  std::optional<double> latency_ms() const { return latency_ms_; }

  void arm(host::PollSet& set) override;
  void decide() override;

 private:
  host::Loop& loop_;
  zk::ServersAsked servers_;
  Deadline next_ = BootClock::now();
  std::optional<zk::WordQuery> query_;
  std::optional<HealthVerdict> verdict_;
  std::optional<double> latency_ms_;
};

// "warning: 2 of 3 serve, missing zk3:2181, zk1:2181 leads, 0.4 ms"; the rest of the verdict behind it.
std::string line_of(const EnsembleWatch& ensemble);

}  // namespace zklock::command
