// SPDX-License-Identifier: Apache-2.0
// Host names to addresses, in a child process: getaddrinfo may block for half a minute, and neither a deadline nor a
// signal could end it in ours.
#pragma once

#include "base/time.h"
#include "host/loop.h"

#include <string>
#include <utility>
#include <vector>

namespace zklock::host {

struct Resolved {
  std::vector<std::string> addresses;  // numeric, in the resolver's order, without doubles
  std::string error;                   // why there is none
};

// True for an IPv4 or IPv6 address: nothing to resolve.
bool is_numeric_address(const std::string& host);

// One result a host, in the same order. Throws a Failure (69) when `until` passes, and what the loop throws.
std::vector<Resolved> resolve(Loop& loop, const std::vector<std::string>& hosts, Deadline until);

}  // namespace zklock::host
