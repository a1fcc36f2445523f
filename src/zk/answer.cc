// SPDX-License-Identifier: Apache-2.0
#include "zk/answer.h"

#include <fmt/format.h>

namespace zklock::zk {

namespace {

constexpr int kNoChildrenForEphemerals = -108;  // ZNOCHILDRENFOREPHEMERALS
constexpr int kWantsSasl = -124;                // ZSESSIONCLOSEDREQUIRESASLAUTH

std::pair<ExitStatus, std::string> reason_of(const Answer& answer) {
  if (answer.code == Code::no_auth) {
    return {ExitStatus::refused,
            "ZooKeeper refused it: the ACL there does not allow it; give other credentials (ZKLOCK_AUTH, --auth-file, "
            "--tls-cert)"};
  }
  if (answer.number == kNoChildrenForEphemerals) {
    return {ExitStatus::bad_data,
            "the node above it is an ephemeral one, which can have nothing below it; choose another path"};
  }
  if (answer.number == kWantsSasl) {
    return {
        ExitStatus::refused,
        "ZooKeeper wants another authentication, SASL most likely, which zklock has not; see SECURITY in zklock(1)"};
  }
  if (answer.code == Code::expired) return {ExitStatus::unavailable, "the session expired; run it again"};
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

Failure expired(std::string_view tried) {
  Answer over;
  over.code = Code::expired;
  return failure_of(tried, over);
}

}  // namespace zklock::zk
