// SPDX-License-Identifier: Apache-2.0
// The addresses of an ensemble's servers, and which of them is tried next: the first behind the one tried last that has
// not failed since a server answered. Once all have failed, a round is over, and all may be tried again. Pure.
#pragma once

#include "zk/ensemble.h"

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::zk {

class Addresses {
 public:
  // Numeric, at least one; they are tried in this order. One address may be there under several names.
  explicit Addresses(const std::vector<Server>& servers) { replace(servers); }

  // These from now on. What is known of those that stay is kept, and those that are new are tried first.
  void replace(const std::vector<Server>& servers);
  bool contains(const std::string& address) const;

  // The one to be tried next.
  const Server& current() const { return all_[current_].server; }
  // The names and addresses that its certificate may be for.
  const std::vector<std::string>& names() const { return all_[current_].names; }

  // This one has failed, or the connection to it was lost; lastingly, where no waiting heals that. Another one is the
  // current one then. It need not be among them any more.
  void note_failure(const std::string& address, bool lasting);
  // Some server has answered: whatever failed may be tried again.
  void note_answer();

  // How often all have failed since a server answered.
  size_t rounds() const { return rounds_; }
  // No waiting heals it, with none of them.
  bool all_refuse() const;

 private:
  struct Entry {
    Server server;
    std::string text;
    std::vector<std::string> names;
    bool failed = false;
    bool refuses = false;  // lastingly, the last time that it was tried
  };

  Entry* find(const std::string& address);
  void advance();

  std::vector<Entry> all_;
  size_t current_ = 0;
  size_t rounds_ = 0;
};

}  // namespace zklock::zk
