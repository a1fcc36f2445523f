// SPDX-License-Identifier: Apache-2.0
#include "command/health/checkup.h"

#include "command/health/lock_probe.h"
#include "zk/words/query.h"

namespace zklock::command {

const Look& Checkup::look() {
  Look look;
  look.at = BootClock::now();
  const Deadline until = deadline_in(options_.time);
  // srvr first: it is allowed everywhere, and what a server cannot tell by the others costs nothing but them.
  zk::WordQuery query(loop_, options_.servers, {"srvr", "mntr", "conf"}, until);
  if (options_.probe) look.probe = probe_lock(loop_, options_.session, *options_.probe, until);
  for (const auto& [server, replies] : query.finish()) {
    look.servers.push_back(ServerHealth::of(server, replies));
    const size_t at = look.servers.size() - 1;
    look.rates.push_back(at < last_.servers.size()
                             ? rates_between(last_.servers[at], look.servers[at], look.at - last_.at)
                             : std::nullopt);
  }
  look.verdict = judge_health(look.servers, options_.thresholds, look.probe);
  last_ = std::move(look);
  return last_;
}

std::optional<Rates> rates_between(const ServerHealth& before, const ServerHealth& now, Duration span) {
  const auto seconds = std::chrono::duration<double>(span).count();
  const auto& [old, fresh] = std::pair(before.status, now.status);
  if (!old.received || !fresh.received || !old.sent || !fresh.sent || seconds <= 0) return std::nullopt;
  if (*fresh.received < *old.received || *fresh.sent < *old.sent) return std::nullopt;
  return Rates{static_cast<double>(*fresh.received - *old.received) / seconds,
               static_cast<double>(*fresh.sent - *old.sent) / seconds};
}

}  // namespace zklock::command
