// SPDX-License-Identifier: Apache-2.0
// zklock ruok, stat, srvr, mntr and 4lw: ask servers a four-letter word. This header also has the text for their
// replies, and for servers that give none.
#pragma once

#include "base/exit_status.h"
#include "command/cli/subcommand.h"
#include "zk/words/query.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace zklock::command {

// The words that most servers know, besides those that have a subcommand.
inline constexpr const char* kWords[] = {"conf", "cons", "crst", "dirs", "dump", "envi", "gtmk",
                                         "hash", "isro", "srst", "wchc", "wchp", "wchs"};

// Adds the options of the subcommand that asks the word of its own name; 4lw takes the word as an operand.
Execute add_word(CLI::App& app, GlobalOptions& global);

// Returns the servers to ask, each by itself: those in `words` (each is HOST[:PORT] or a list), or without words those
// of --servers. There are no duplicates and no chroot. Throws a Failure (64) that names the bad word or option.
zk::ServerList named_servers(const std::vector<std::string>& words, const GlobalOptions& global);

// Returns the servers of the list, with the TLS settings for them. Throws a Failure (64) as tls_of() does.
zk::ServersAsked asked_servers(const zk::ServerList& list, const GlobalOptions& global);

// Returns how long to wait for replies: what -w says, else 5 s. Throws a Failure (64).
Duration asking_time(const Value& timeout);

// --- replies to one word, one of each server. Pure.

// Returns the reply of a single server as it is. For several servers, returns the proper replies, each after its
// server's address, with an empty line between them.
std::string text_of(const std::vector<zk::WordReply>& replies);

// Returns the same for a terminal: control characters are escaped, and the last line is ended.
std::string text_for_terminal(const std::vector<zk::WordReply>& replies);

// Returns a JSON object on a line of its own for each server.
std::string json_of(const std::vector<zk::WordReply>& replies);

// Returns why there is no proper reply, "connection refused", without advice: one line, safe to print.
std::string trouble_of(const zk::WordReply& reply);

// Returns the same with the server, and what to do.
std::string advice_on(const zk::WordReply& reply);

// Returns done, unavailable or refused. It is refused only if every server that failed has refused.
ExitStatus status_of(const std::vector<zk::WordReply>& replies);

// --- replies as JSON, with names and numbers if the word has structure. Pure.

// Returns a number if `text` is one, else the text.
nlohmann::ordered_json value_of(std::string_view text);

// Returns a proper reply as an object, an array, a number or a string; null for a word without structure. Lines that do
// not fit the structure are left out.
nlohmann::ordered_json structure_of(std::string_view word, std::string_view text);

// Adds these members of a server's status to `json`, as far as the server has said them.
void put_status(nlohmann::ordered_json& json, const zk::ServerStatus& status,
                std::initializer_list<const char*> members);

}  // namespace zklock::command
