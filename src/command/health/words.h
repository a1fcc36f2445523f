// SPDX-License-Identifier: Apache-2.0
// What is shown of replies to a four-letter word, and what is said where there is none. Pure.
#pragma once

#include "base/exit_status.h"
#include "zk/server_list.h"
#include "zk/words/word_reply.h"

#include <string>
#include <vector>

namespace zklock::command {

struct Asked {
  zk::Server server;
  zk::WordReply reply;
};

// One server: its reply as it stands. Several: the proper replies, each headed by its server's address, with an empty
// line between.
std::string text_of(const std::vector<Asked>& asked);

// The same for a terminal: control characters escaped, and the last line ended.
std::string text_for_terminal(const std::vector<Asked>& asked);

// An object on a line of its own for each server.
std::string json_of(const std::vector<Asked>& asked);

// "connection refused": why there is no proper reply, without advice. In one line, safe to print.
std::string trouble_of(const zk::WordReply& reply);

// The same with the server, and what to do.
std::string advice_on(const Asked& asked);

// done, unavailable or refused.
ExitStatus status_of(const std::vector<Asked>& asked);

}  // namespace zklock::command
