// SPDX-License-Identifier: Apache-2.0
#include "zk/answer.h"

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// Refusals by a server that hold for all clients, by its settings or by a rule of the tree.
struct Refusal {
  int number;  // the C client's, or Java's if the C client has none
  ExitStatus status;
  const char* reason;
};

constexpr Refusal kRefusals[] = {
    // ZUNIMPLEMENTED
    {-6, ExitStatus::refused,
     "the server does not know this request; see zklock-compatibility(7) for the servers that zklock works with"},
    // ZNOCHILDRENFOREPHEMERALS
    {-108, ExitStatus::bad_data,
     "the node above it is an ephemeral one, which can have nothing below it; choose another path"},
    {kOnLocalSession, ExitStatus::refused,
     "the server keeps sessions local (localSessionsEnabled), and a local one may have no ephemeral node; its operator "
     "can set localSessionsUpgradingEnabled=true"},
    {kTurnedAway, ExitStatus::refused,
     "ZooKeeper wants another authentication; give credentials (ZKLOCK_AUTH, --auth-file), or, if it wants SASL, which "
     "zklock has not, see SECURITY in zklock(1)"},
    // QUOTAEXCEEDED, from ZooKeeper 3.7 on
    {-125, ExitStatus::refused,
     "it would exceed a quota of the nodes above it (enforceQuota); raise the quota, or delete what is not needed"},
};

std::pair<ExitStatus, std::string> reason_of(const Answer& answer) {
  if (answer.code == Code::no_auth) {
    return {ExitStatus::refused,
            "ZooKeeper refused it: the ACL there does not allow it; give other credentials (ZKLOCK_AUTH, --auth-file, "
            "--tls-cert)"};
  }
  for (const Refusal& one : kRefusals) {
    if (answer.number == one.number) return {one.status, one.reason};
  }
  return {ExitStatus::internal, fmt::format("unexpected answer from ZooKeeper: {}", name_of_code(answer.number))};
}

}  // namespace

std::string session_name(int64_t session) {
  return fmt::format("{:#x}", static_cast<uint64_t>(session));
}

Failure failure_of(std::string_view tried, const Answer& answer) {
  const auto [status, reason] = reason_of(answer);
  return {status, fmt::format("{}: {}", tried, reason)};
}

Failure turned_away(std::string_view tried) {
  Answer refused;
  refused.code = Code::unexpected;
  refused.number = kTurnedAway;
  return failure_of(tried, refused);
}

SessionOver::SessionOver(std::string_view tried)
    : Failure(ExitStatus::unavailable, fmt::format("{}: the session expired; run it again", tried)) {}

}  // namespace zklock::zk
