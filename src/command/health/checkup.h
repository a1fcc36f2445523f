// SPDX-License-Identifier: Apache-2.0
// Looks at the servers of an ensemble, one after the other.
#pragma once

#include "command/health/verdict.h"
#include "host/loop.h"
#include "zk/session.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

// A second, since the look before.
struct Rates {
  double received = 0;
  double sent = 0;
};

struct Look {
  Deadline at{};
  std::vector<ServerHealth> servers;
  std::vector<std::optional<Rates>> rates;  // one a server; nothing where they are not known
  std::optional<Probe> probe;
  HealthVerdict verdict;
};

struct CheckupOptions {
  std::vector<zk::Server> servers;
  Duration time{};  // for one look
  Thresholds thresholds;
  std::optional<std::string> probe;  // the path of a lock
  zk::SessionOptions session;        // for the probe
};

class Checkup {
 public:
  Checkup(host::Loop& loop, CheckupOptions options) : loop_(loop), options_(std::move(options)) {}

  // Asks all servers at the same time, and takes the probe's lock meanwhile.
  const Look& look();

 private:
  host::Loop& loop_;
  CheckupOptions options_;
  Look last_;
};

// What two looks tell of one server; nothing where its counters began anew.
std::optional<Rates> rates_between(const ServerHealth& before, const ServerHealth& now, Duration span);

}  // namespace zklock::command
