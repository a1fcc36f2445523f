// SPDX-License-Identifier: Apache-2.0
// What a look at one server has shown, as far as it said it. Pure.
#pragma once

#include "base/time.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <optional>
#include <string>
#include <vector>

namespace zklock::command {

enum class Role { none, leader, follower, observer, standalone, read_only };  // none: it does not serve

struct ServerHealth {
  zk::Server server;
  zk::WordResult result = zk::WordResult::no_answer;  // of srvr
  std::string trouble;                                // in words, where srvr tells nothing
  std::string mntr_trouble;                           // the same of mntr
  zk::ServerStatus status;
  zk::Fields mntr;                // empty where it is not allowed
  zk::Fields conf;                // likewise
  std::optional<int64_t> voters;  // of the ensemble, as this server knows it
  Duration took{};                // srvr

  // From the replies to srvr and then mntr and conf, as many as there are, at least one.
  static ServerHealth of(const zk::Server& server, const std::vector<zk::WordReply>& replies);

  Role role() const;
  bool serves() const { return role() != Role::none && role() != Role::read_only; }
};

// "serving", "read-only", "strange" for a mode that is not known, else the result's name.
std::string state_of(const ServerHealth& health);

}  // namespace zklock::command
