// SPDX-License-Identifier: Apache-2.0
// Resolves host names to addresses in a child process, because getaddrinfo may block for half a minute. In our own
// process, neither a deadline nor a signal could end that. The child looks names up by libc's modules, normally those
// that nsswitch.conf(5) names. A static program contains libc's own modules for files and for DNS. It would load others
// together with a second libc, and crash. So it keeps to its own, and asks the system's getent, in another child, for a
// name that they do not know.
#pragma once

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

// Makes libc use only the modules inside the program, whatever nsswitch.conf says. A static program must call this
// before it looks anything up.
void keep_to_own_lookup_modules();

struct Resolved {
  std::vector<std::string> addresses;  // numeric, in the resolver's order, without duplicates
  std::string error;                   // why there are no addresses; "" if the child did not say
};

// Returns whether `host` is an IPv4 or IPv6 address, which needs no resolving.
bool is_numeric_address(const std::string& host);

// Returns the socket address of a numeric address, which may have a zone ("fe80::1%eth0"); nothing for any other text.
std::optional<sockaddr_storage> socket_address_of(const std::string& address, uint16_t port);

// The lookup of one host, which is under way as long as the object exists and is in the loop.
class Lookup : public Source {
 public:
  // Starts the lookup. Throws a Failure (70) if that is not possible.
  explicit Lookup(std::string host);
  Lookup(const Lookup&) = delete;
  ~Lookup() override { end_child(); }

  bool done() const { return done_; }
  // Returns what was found. Call it once it is done.
  const Resolved& result() const { return result_; }

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;
  // Throws a Failure (70) if getent is to be asked and no child can be made.
  void decide() override;

 private:
  void start(const std::function<void(int output)>& child);
  void end_child();

  std::string host_;
  Resolved result_;
  bool asks_getent_ = false;
  bool done_ = false;
  Fd output_;  // from the child, up to its end
  pid_t pid_ = 0;
  std::string text_;  // what the child has written
};

}  // namespace zklock::host
