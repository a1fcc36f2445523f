// SPDX-License-Identifier: Apache-2.0
// Host names to addresses, in a child process: getaddrinfo may block for half a minute, and neither a deadline nor a
// signal could end it in ours. Where zklock keeps to its own lookup modules (lookup_modules.h), the system's getent is
// asked for the names that they do not know, in a child for each.
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
  std::vector<std::string> addresses;  // numeric, in the resolver's order, without doubles
  std::string error;                   // why there is none
};

// True for an IPv4 or IPv6 address: nothing to resolve.
bool is_numeric_address(const std::string& host);

// Of a numeric address, which may have a zone ("fe80::1%eth0"); nothing for any other.
std::optional<sockaddr_storage> socket_address_of(const std::string& address, uint16_t port);

// A lookup that is under way as long as it is there and in the loop.
class Lookup : public Source {
 public:
  // Starts it. Throws a Failure (70) where that is not possible.
  explicit Lookup(std::vector<std::string> hosts);
  Lookup(const Lookup&) = delete;
  ~Lookup() override { end_child(); }

  bool done() const { return done_; }
  // One a host, in the same order. Once it is done.
  const std::vector<Resolved>& results() const { return results_; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  // Throws a Failure (70) where getent is to be asked and there can be no child.
  void decide() override;

 private:
  void start(const std::function<void(int output)>& child);
  void end_child();
  void note_answer();

  std::vector<std::string> hosts_;
  std::vector<Resolved> results_;  // none before the first child has answered
  size_t asked_ = 0;               // the host that getent is asked for
  bool done_ = false;
  Fd output_;  // the child's, up to its end
  pid_t pid_ = 0;
  std::string text_;  // what the child has said
};

// The same, waited for: one result a host, in the same order. Throws a Failure (69) when `until` passes, and what the
// loop throws.
std::vector<Resolved> resolve(Loop& loop, const std::vector<std::string>& hosts, Deadline until);

}  // namespace zklock::host
