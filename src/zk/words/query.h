// SPDX-License-Identifier: Apache-2.0
// Four-letter words asked of servers: of all of them at the same time, of each one word after the other, so that it
// counts no more than one connection of ours. A server that does not answer a word is not asked the next.
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
  std::shared_ptr<const host::Tls> tls = nullptr;  // null: in the clear
};

struct ServerReplies {
  Server server;
  std::vector<WordReply> replies;  // one a word that was asked, at least one
};

class ServerQuery;

class WordQuery {
 public:
  // Begins; whoever turns the loop serves it. Over at the deadline at the latest.
  WordQuery(host::Loop& loop, const ServersAsked& asked, const std::vector<std::string>& words, Deadline until);
  WordQuery(const WordQuery&) = delete;
  ~WordQuery();

  // finish() would return at once.
  bool is_over() const;
  // Turns the loop until all are over; one a server, in the order given. Once. Throws what other sources of the loop
  // throw.
  std::vector<ServerReplies> finish();

 private:
  host::Loop& loop_;
  Deadline until_;
  std::shared_ptr<const host::Tls> tls_;
  std::vector<std::unique_ptr<ServerQuery>> parts_;
};

}  // namespace zklock::zk
