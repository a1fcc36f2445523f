// SPDX-License-Identifier: Apache-2.0
// Four-letter words asked of servers: of all of them at the same time, of each one word after the other, so that it
// counts no more than one connection of ours. A server that does not answer a word is not asked the next.
#pragma once

#include "host/exchange.h"
#include "host/loop.h"
#include "host/resolver.h"
#include "zk/ensemble.h"
#include "zk/words/word_reply.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zklock::zk {

// One server's part. Needs the loop; over at the deadline at the latest.
class Interview : public host::Source {
 public:
  Interview(Server server, std::vector<std::string> words, Deadline until);

  bool over() const { return over_; }
  const Server& server() const { return server_; }
  // One a word that was asked, at least one when it is over.
  const std::vector<WordReply>& replies() const { return replies_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  void decide() override;

 private:
  void note_lookup();
  void ask();
  void note_exchange();
  void add(WordResult result, std::string text, std::string reason);

  Server server_;
  std::vector<std::string> words_;
  Deadline until_;
  Deadline began_ = BootClock::now();  // the present word
  std::optional<host::Lookup> lookup_;
  std::vector<std::string> addresses_;
  std::optional<host::Exchange> exchange_;
  std::vector<WordReply> replies_;
  bool over_ = false;
};

class Inquiry {
 public:
  // Begins; whoever turns the loop serves it.
  Inquiry(host::Loop& loop, const std::vector<Server>& servers, const std::vector<std::string>& words, Deadline until);
  Inquiry(const Inquiry&) = delete;
  ~Inquiry();

  // Turns the loop until all are over; one a server, in the order given. Throws what other sources of the loop throw.
  const std::vector<std::unique_ptr<Interview>>& finish();

 private:
  host::Loop& loop_;
  Deadline until_;
  std::vector<std::unique_ptr<Interview>> interviews_;
};

}  // namespace zklock::zk
