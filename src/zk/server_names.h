// SPDX-License-Identifier: Apache-2.0
// Where the servers of a list are: the addresses behind their names. They are looked up before a session begins, and
// again while it has no connection, beside everything else, because servers move: in a cluster manager each gets a new
// address when it is replaced. Owned by zk::Session.
#pragma once

#include "host/loop.h"
#include "host/net/resolver.h"
#include "zk/ensemble.h"
#include "zk/link.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zklock::zk {

class ServerNames : public host::Source {
 public:
  // `list` outlives it. `certified`: the names count for certificates.
  ServerNames(const ServerList& list, bool certified) : list_(list), certified_(certified) {}
  ServerNames(const ServerNames&) = delete;

  // Looks all names up and returns addresses(). A name that cannot be resolved keeps those that it had. Where there is
  // no address at all it throws a Failure (69); what the loop throws, too.
  const std::vector<Server>& resolve(host::Loop& loop, Deadline until);
  // Numeric, at least one after resolve(), in random order so that clients spread over the servers.
  const std::vector<Server>& addresses() const { return addresses_; }

  // From now on, in the loop: whenever `link` has had no connection for a while, the names are looked up, again and
  // again, and `moved` is called when the addresses have changed. The address that was in use last is kept behind them,
  // however the names are answered. Both outlive it, or unfollow() comes first.
  void follow(const Link& link, const Client& client, std::function<void()> moved);
  void unfollow();

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  void decide() override;

 private:
  std::vector<std::string> names() const;
  Deadline next() const;
  void look_again(Deadline since);
  void take_answer();
  void take(const std::vector<host::Resolved>& results);
  std::vector<Server> listed() const;
  void fail() const;

  const ServerList& list_;
  const bool certified_;
  std::map<std::string, host::Resolved> known_;  // by name
  std::vector<Server> addresses_;
  const Link* link_ = nullptr;
  const Client* client_ = nullptr;
  std::function<void()> moved_;
  std::string used_;                      // the address in use last
  std::unique_ptr<host::Lookup> lookup_;  // under way
  Deadline next_ = kNever;                // when the next one begins; never: as next() says
};

}  // namespace zklock::zk
