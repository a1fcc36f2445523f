// SPDX-License-Identifier: Apache-2.0
// What top says of the ensemble.
#include "command/top/top.h"

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPause = 5s;
constexpr Duration kPatience = 3s;

}  // namespace

// If no process can be started for a while, to look up a name, the figures of the last round stay.
void EnsembleWatch::ask() {
  try {
    query_.emplace(loop_, servers_, std::vector<std::string>{"srvr", "mntr", "conf"}, deadline_in(kPatience));
  } catch (const Failure& failure) {
    if (failure.signal() != 0 || !verdict_) throw;
    next_ = deadline_in(kPause);
  }
}

// The query may be over only after our own decide() in a turn. Then the next turn must not wait.
void EnsembleWatch::arm(host::PollSet& set) {
  if (!query_) return set.wake_at(next_);
  if (query_->is_over()) set.wake_at(BootClock::now());
}

void EnsembleWatch::decide() {
  if (!query_) {
    if (left_until(next_) > Duration::zero()) return;
    return ask();
  }
  if (!query_->is_over()) return;
  std::vector<ServerHealth> servers;
  for (const auto& replies : query_->finish()) servers.push_back(ServerHealth::of(replies));
  query_.reset();
  verdict_ = judge_health(servers, {}, std::nullopt);
  latency_ms_ = std::nullopt;
  for (const ServerHealth& server : servers) {
    const bool leads = server.role() == Role::leader || server.role() == Role::standalone;
    if (leads && server.status.latency_ms) latency_ms_ = server.status.latency_ms->average;
  }
  next_ = deadline_in(kPause);
}

// The missing servers come early in the line, because a narrow screen cuts its end.
std::string line_of(const EnsembleWatch& ensemble) {
  if (!ensemble.verdict()) return "asking the servers";
  const HealthVerdict& verdict = *ensemble.verdict();
  const std::string latency =
      ensemble.latency_ms() ? fmt::format(", {:.3g} ms", *ensemble.latency_ms()) : std::string();
  if (!verdict.quorum.value_or(false) || verdict.leader.empty()) return line_of(verdict) + latency;
  std::string line = fmt::format("{}: {} of {} serve", name_of(verdict.level), verdict.serving,
                                 verdict.serving + static_cast<int64_t>(verdict.missing.size()));
  if (!verdict.missing.empty()) line += fmt::format(", missing {}", fmt::join(verdict.missing, " "));
  line += fmt::format(", {} leads{}", verdict.leader, latency);
  for (const Finding& finding : verdict.findings) {
    if (!finding.text.starts_with("missing")) line += "; " + finding.text;
  }
  return line;
}

}  // namespace zklock::command
