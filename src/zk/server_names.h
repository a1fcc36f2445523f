// SPDX-License-Identifier: Apache-2.0
// The addresses of the servers in a list. The names are looked up before a session begins. They are looked up again, in
// the background, while it has no connection, because servers move: in a cluster manager, a replaced server gets a new
// address. zk::Session owns this.
#pragma once

#include "host/loop.h"
#include "host/net/resolver.h"
#include "zk/ensemble.h"
#include "zk/link.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace zklock::zk {

class ServerNames : public host::Source {
 public:
  // `list` outlives it. `certified`: certificates are checked for the names.
  ServerNames(const ServerList& list, bool certified) : list_(list), certified_(certified) {}
  ServerNames(const ServerNames&) = delete;

  // Looks up all names and returns addresses(). Once there is an address, the other names have a second more, and
  // until the session is connected, their lookups go on under follow(). A name that cannot be resolved keeps the
  // addresses that it had. Throws a Failure if there is no address at all (69) or no lookup can be started (70), and
  // what the loop throws.
  const std::vector<Server>& resolve(host::Loop& loop, Deadline until);
  // The addresses are numeric, and in random order, so that clients spread over the servers. After resolve() there is
  // at least one.
  const std::vector<Server>& addresses() const { return addresses_; }

  // From now on, looks up the names again and again in the loop, whenever `link` has had no connection for a while. It
  // calls `moved` when the addresses have changed. The address that was in use last stays in the list, at its end,
  // whatever the lookups return. `link` must outlive this object, unless unfollow() is called first.
  void follow(const Link& link, std::function<void()> moved);
  void unfollow();

  void arm(host::PollSet& set) override;
  void record(const host::PollSet& set) override;
  void decide() override;

 private:
  std::vector<std::string> names() const;
  Deadline next() const;
  void start_lookups();
  void look_again(Deadline since);
  void take_answers();
  bool take();
  std::vector<Server> listed() const;

  const ServerList& list_;
  const bool certified_;
  std::map<std::string, host::Resolved> known_;  // by name
  std::vector<Server> addresses_;
  const Link* link_ = nullptr;
  std::function<void()> moved_;
  std::string used_;  // the address that was in use last
  // The lookups under way, by name. Each name has its own, so a name whose lookup hangs holds up no other.
  std::map<std::string, host::Lookup> lookups_;
  Deadline next_ = kNever;  // when the next lookups begin; kNever: next() computes it
};

}  // namespace zklock::zk
