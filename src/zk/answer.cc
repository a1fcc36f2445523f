// SPDX-License-Identifier: Apache-2.0
#include "zk/answer.h"

#include <fmt/format.h>

namespace zklock::zk {

namespace {

// The numbers are the C client's, or Java's if the C client has none.
std::pair<ExitStatus, std::string> reason_of(const Answer& answer) {
  if (answer.code == Code::no_auth) {
    return {ExitStatus::refused,
            "ZooKeeper refused it: the ACL there does not allow it; give other credentials (ZKLOCK_AUTH, --auth-file, "
            "--tls-cert)"};
  }
  switch (answer.number) {
    case -6:  // ZUNIMPLEMENTED
      return {ExitStatus::refused,
              "the server does not know this request; see zklock-compatibility(7) for the servers that zklock works "
              "with"};
    case -108:  // ZNOCHILDRENFOREPHEMERALS
      return {ExitStatus::bad_data,
              "the node above it is an ephemeral one, which can have nothing below it; choose another path"};
    case kOnLocalSession:
      return {ExitStatus::refused,
              "the server keeps sessions local (localSessionsEnabled), and a local one may have no ephemeral node; its "
              "operator can set localSessionsUpgradingEnabled=true"};
    case kTurnedAway:
      return {ExitStatus::refused,
              "ZooKeeper wants another authentication; give credentials (ZKLOCK_AUTH, --auth-file), or, if it wants "
              "SASL, which zklock has not, see SECURITY in zklock(1)"};
    case -125:  // QUOTAEXCEEDED, from ZooKeeper 3.7 on
      return {ExitStatus::refused,
              "it would exceed a quota of the nodes above it (enforceQuota); raise the quota, or delete what is not "
              "needed"};
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

SessionOver::SessionOver(std::string_view tried)
    : Failure(ExitStatus::unavailable, fmt::format("{}: the session expired; run it again", tried)) {}

}  // namespace zklock::zk
