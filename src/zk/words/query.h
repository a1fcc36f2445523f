// SPDX-License-Identifier: Apache-2.0
// Sends four-letter words to servers: to all servers at once, but to each server one word after the other. So a server
// counts at most one connection of ours, and near its maxClientCnxns it turns none away, which it would report. If a
// server does not answer a word, the next one is not sent.
#pragma once

#include "host/loop.h"
#include "host/net/tls.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <memory>
#include <string>
#include <vector>

namespace zklock::zk {

struct ServersAsked {
  std::vector<Server> servers;
  std::shared_ptr<const host::Tls> tls = nullptr;  // null: no TLS
};

class ServerQuery;

class WordQuery {
 public:
  // Starts the query, which goes on when the loop is turned. It ends at `until` at the latest.
  WordQuery(host::Loop& loop, const ServersAsked& asked, const std::vector<std::string>& words, Deadline until);
  WordQuery(const WordQuery&) = delete;
  ~WordQuery();

  // Returns true if finish() would return at once.
  bool is_over() const;
  // Turns the loop until all servers are done. Returns the replies of each server, in the order given: one for each
  // word that was sent, at least one. Call it only once. Throws what other sources of the loop throw.
  std::vector<std::vector<WordReply>> finish();

 private:
  host::Loop& loop_;
  Deadline until_;
  std::shared_ptr<const host::Tls> tls_;
  std::vector<std::unique_ptr<ServerQuery>> parts_;
};

}  // namespace zklock::zk
