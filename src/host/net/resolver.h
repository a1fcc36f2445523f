// SPDX-License-Identifier: Apache-2.0
// Resolves host names to addresses in a child process, because getaddrinfo may block for half a minute. In our own
// process, neither a deadline nor a signal could end that. If zklock keeps to its own lookup modules
// (lookup_modules.h), it asks the system's getent for the names that they do not know. Each of these names takes a
// child.
#pragma once

#include "base/time.h"
#include "host/fd.h"
#include "host/loop.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

struct Resolved {
  std::vector<std::string> addresses;  // numeric, in the resolver's order, without duplicates
  std::string error;                   // why there are no addresses; "" if the child did not say
};

// Returns whether `host` is an IPv4 or IPv6 address, which needs no resolving.
bool is_numeric_address(const std::string& host);

// Returns the socket address of a numeric address, which may have a zone ("fe80::1%eth0"); nothing for any other text.
std::optional<sockaddr_storage> socket_address_of(const std::string& address, uint16_t port);

// A lookup, which is under way as long as the object exists and is in the loop.
class Lookup : public Source {
 public:
  // Starts the lookup. Throws a Failure (70) if that is not possible.
  explicit Lookup(std::vector<std::string> hosts);
  Lookup(const Lookup&) = delete;
  ~Lookup() override { end_child(); }

  bool done() const { return done_; }
  // The results, one per host, in the same order. To be called once it is done.
  const std::vector<Resolved>& results() const { return results_; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  // Throws a Failure (70) if getent is to be asked and no child can be made.
  void decide() override;

 private:
  void start(const std::function<void(int output)>& child);
  void end_child();
  void note_answer();

  std::vector<std::string> hosts_;
  std::vector<Resolved> results_;  // empty until the first child has answered
  size_t asked_ = 0;               // index of the host that getent is asked for
  bool done_ = false;
  Fd output_;  // from the child, up to its end
  pid_t pid_ = 0;
  std::string text_;  // what the child has written
};

// Looks up `hosts`, waits, and returns one result per host, in the same order. Throws a Failure (69) if `until` passes,
// and what Lookup and the loop throw.
std::vector<Resolved> resolve(Loop& loop, const std::vector<std::string>& hosts, Deadline until);

}  // namespace zklock::host
