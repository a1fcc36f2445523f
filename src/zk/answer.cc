// SPDX-License-Identifier: Apache-2.0
#include "zk/answer.h"

#include <fmt/format.h>

namespace zklock::zk {

namespace {

std::pair<ExitStatus, std::string> reason_of(const Answer& answer) {
  switch (answer.code) {
    case Code::no_auth:
      return {ExitStatus::refused, "ZooKeeper refused it: not allowed with these credentials (ZKLOCK_AUTH)"};
    case Code::childless:
      return {ExitStatus::bad_data, "the path is in use: an ephemeral node cannot have children"};
    case Code::expired:
      return {ExitStatus::unavailable, "the session expired"};
    case Code::ok:
    case Code::no_node:
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::unsupported:
    case Code::unknown:
    case Code::other:
      break;
  }
  return {ExitStatus::internal, fmt::format("unexpected answer {} from ZooKeeper", answer.number)};
}

}  // namespace

Failure failure_of(std::string_view tried, const Answer& answer) {
  const auto [status, reason] = reason_of(answer);
  return {status, fmt::format("{}: {}", tried, reason)};
}

}  // namespace zklock::zk
