// SPDX-License-Identifier: Apache-2.0
// zklock ruok, stat, srvr, mntr and 4lw: a four-letter word, asked of servers; what is shown of their replies, and what
// is said where there is none.
#pragma once

#include "base/exit_status.h"
#include "command/cli/subcommand.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// The subcommand whose name is the word; behind 4lw stands which one.
Execute add_word(CLI::App& app, GlobalOptions& global);

// Which servers are asked, each for itself: those that `words` name, as HOST[:PORT] or a list of them; without any,
// those of --servers. None twice; without a chroot. Throws a Failure (64) that names the culprit.
zk::ServerList named_servers(const std::vector<std::string>& words, const GlobalOptions& global);

// And for how long: what -w says, else 5 s. Throws a Failure (64).
Duration asking_time(const Value& timeout);

// --- replies. Pure.

struct ServerReply {
  zk::Server server;
  zk::WordReply reply;
};

// One server: its reply as it stands. Several: the proper replies, each headed by its server's address, with an empty
// line between.
std::string text_of(const std::vector<ServerReply>& replies);

// The same for a terminal: control characters escaped, and the last line ended.
std::string text_for_terminal(const std::vector<ServerReply>& replies);

// An object on a line of its own for each server.
std::string json_of(const std::vector<ServerReply>& replies);

// "connection refused": why there is no proper reply, without advice. In one line, safe to print.
std::string trouble_of(const zk::WordReply& reply);

// The same with the server, and what to do.
std::string advice_on(const ServerReply& reply);

// done, unavailable or refused.
ExitStatus status_of(const std::vector<ServerReply>& replies);

// --- replies as JSON: with names and numbers where the word has structure. Pure.

// A number where `text` is one, else the text.
nlohmann::ordered_json value_of(std::string_view text);

// Of a proper reply: an object, an array, a number or a string; null for a word without structure. What does not fit
// the word's structure is left out.
nlohmann::ordered_json structure_of(std::string_view word, std::string_view text);

// Into `json` these members of a server's status, as far as the server has said them.
void put_status(nlohmann::ordered_json& json, const zk::ServerStatus& status,
                std::initializer_list<const char*> members);

}  // namespace zklock::command
