// SPDX-License-Identifier: Apache-2.0
#include "command/health/server_health.h"

#include "base/text.h"
#include "command/health/words.h"

#include <fmt/format.h>

namespace zklock::command {

using zk::WordReply;
using zk::WordResult;

ServerHealth ServerHealth::of(const zk::Server& server, const std::vector<WordReply>& replies) {
  ServerHealth health;
  health.server = server;
  for (const WordReply& reply : replies) {
    const bool answered = reply.result == WordResult::answered;
    if (reply.word == "srvr") {
      health.result = reply.result;
      health.took = reply.took;
      health.trouble = trouble_of(reply);
      if (answered) health.status = zk::parse_status(reply.text);
    } else if (reply.word == "mntr") {
      health.mntr_trouble = trouble_of(reply);
      if (answered) health.mntr = zk::Fields::parse(reply.text, '\t');
      health.voters = health.mntr.number("zk_quorum_size");
    } else if (reply.word == "conf" && answered) {
      health.conf = zk::Fields::parse(reply.text, '=');
      if (!health.voters) health.voters = zk::voters_in(health.conf);
    }
  }
  if (health.result == WordResult::answered && health.role() == Role::none) {
    health.trouble = fmt::format("its mode is '{}'", printable(health.status.mode));
  }
  return health;
}

Role ServerHealth::role() const {
  if (result != WordResult::answered) return Role::none;
  if (status.mode == "leader") return Role::leader;
  if (status.mode == "follower") return Role::follower;
  if (status.mode == "observer") return Role::observer;
  if (status.mode == "standalone") return Role::standalone;
  return status.mode == "read-only" ? Role::read_only : Role::none;
}

std::string state_of(const ServerHealth& health) {
  if (health.serves()) return "serving";
  if (health.role() == Role::read_only) return "read-only";
  return health.result == WordResult::answered ? "strange" : name_of(health.result);
}

}  // namespace zklock::command
