// SPDX-License-Identifier: Apache-2.0
// The addresses of an ensemble's servers, and which of them to try next: the next in the list that has not failed since
// a server answered. When all have failed, a round is over and all may be tried again. This code is pure.
#pragma once

#include "zk/ensemble.h"

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::zk {

class Addresses {
 public:
  // `servers` have numeric addresses. There is at least one, and they are tried in this order. An address may occur
  // under several names.
  explicit Addresses(const std::vector<Server>& servers) { replace(servers); }

  // Replaces the servers. Servers that stay keep their state; new ones count as not failed, so they come before those
  // that have failed. The current one stays current if it is still there and has not failed.
  void replace(const std::vector<Server>& servers);
  bool contains(const std::string& address) const;
  size_t count() const { return all_.size(); }

  // Returns the server to try next.
  const Server& current() const { return all_[current_].server; }
  // Returns the names and addresses that its certificate may be for.
  const std::vector<std::string>& names() const { return all_[current_].names; }

  // Notes that the attempt or the connection to `address` failed; `lasting`: waiting does not help. If it was the
  // current one, another one is current then. `address` may be one that replace() has removed.
  void note_failure(const std::string& address, bool lasting);
  // Notes that some server has answered: all servers may be tried again.
  void note_answer();

  // Returns how often all have failed since a server last answered.
  size_t rounds() const { return rounds_; }
  // Returns true if the last attempt to each of them failed in a lasting way.
  bool all_refuse() const;

 private:
  struct Entry {
    Server server;
    std::string text;
    std::vector<std::string> names;
    bool failed = false;
    bool refuses = false;  // the last attempt failed in a lasting way
  };

  Entry* find(const std::string& address);
  void advance();

  std::vector<Entry> all_;
  size_t current_ = 0;
  size_t rounds_ = 0;
};

}  // namespace zklock::zk
