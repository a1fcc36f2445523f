// SPDX-License-Identifier: Apache-2.0
// The servers of an ensemble as people write them: "host[:port][,…][/chroot]". Parsed by us, because the C library
// takes ports modulo 65536, refuses "[::1]:2181" and turns "h1/a,h2/a" into a chroot without a word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

struct Server {
  std::string host;  // a name or a numeric address, without brackets
  uint16_t port;

  bool operator==(const Server&) const = default;
};

struct ServerList {
  std::vector<Server> servers;  // at least one
  std::string chroot;           // "" or "/a/b": put before every path
  std::string origin;           // where the list came from, for messages

  static constexpr const char* kDefaultOrigin = "the default";  // nobody has named servers

  // Throws a Failure (64) that names the culprit.
  static ServerList parse(std::string_view text, std::string origin);

  // "web1:2181,[::1]:2181/chroot": complete, as ZKLOCK_SERVERS takes it.
  std::string text() const;
};

// "host:port", with brackets where the host is an IPv6 address.
std::string to_string(const Server& server);

}  // namespace zklock::zk
