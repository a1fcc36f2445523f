// SPDX-License-Identifier: Apache-2.0
// Host names to addresses, in a child process: getaddrinfo may block for half a minute, and neither a deadline nor a
// signal could end it in ours.
#pragma once

#include "base/time.h"
#include "host/fd.h"
#include "host/loop.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace zklock::host {

struct Resolved {
  std::vector<std::string> addresses;  // numeric, in the resolver's order, without doubles
  std::string error;                   // why there is none
};

// True for an IPv4 or IPv6 address: nothing to resolve.
bool is_numeric_address(const std::string& host);

// A lookup that is under way as long as it is there and in the loop.
class Lookup : public Source {
 public:
  // Starts it. Throws a Failure (70) where that is not possible.
  explicit Lookup(const std::vector<std::string>& hosts);
  Lookup(const Lookup&) = delete;
  ~Lookup() override;

  bool done() const { return !output_; }
  // One a host, in the same order. Once it is done.
  std::vector<Resolved> results() const;

  void arm(PollSet& set) override;
  void record(const PollSet& set) override;

 private:
  size_t count_;
  Fd output_;
  pid_t pid_ = 0;
  std::string text_;
};

// The same, waited for: one result a host, in the same order. Throws a Failure (69) when `until` passes, and what the
// loop throws.
std::vector<Resolved> resolve(Loop& loop, const std::vector<std::string>& hosts, Deadline until);

}  // namespace zklock::host
