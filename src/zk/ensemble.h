// SPDX-License-Identifier: Apache-2.0
// The ensemble, our credentials and the ACL of the nodes that we create, in the form that people write. We parse server
// lists ourselves, because the C library takes ports modulo 65536, refuses "[::1]:2181" and silently turns "h1/a,h2/a"
// into a chroot.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zklock::zk {

struct Server {
  std::string host;  // a name or a numeric address, without brackets
  uint16_t port;
  std::string name = {};  // the name that an address was resolved from, for certificates; "" if they do not matter

  auto operator<=>(const Server&) const = default;
};

// Returns true for a name or a numeric address, without brackets.
bool is_host_name(std::string_view text);

// Returns "host:port", with brackets around an IPv6 address.
std::string to_string(const Server& server);

// A list of servers: "[tls://]host[:port][,…][/chroot]". Like ZooKeeper's own client, the parser ignores blanks around
// a server, and commas with no server between them.
struct ServerList {
  std::vector<Server> servers;  // at least one
  std::string chroot;           // "" or "/a/b", put before every path
  bool tls = false;             // connect to all of them with TLS
  std::string origin;           // where the list came from, for messages

  static constexpr const char* kDefaultOrigin = "the default";  // no list was given

  // Parses a list. `tls` asks for TLS even if the text does not. Throws a Failure (64) that names the wrong part.
  static ServerList parse(std::string_view text, const std::string& origin, bool tls = false);

  // Returns the complete list as ZKLOCK_SERVERS takes it: "tls://web1:2281,[::1]:2281/chroot".
  std::string text() const;

  // A node has the path `path` for a client that uses `other`. Returns its path for a client that uses this list, which
  // may have another chroot. Returns no value if
  // the servers are different ones, as far as the lists show, or if the node is not below our chroot.
  std::optional<std::string> path_here(const ServerList& other, const std::string& path) const;
};

enum class Acl {
  open,                // everyone may do everything
  creator,             // only clients with our identity
  creator_world_read,  // the same, and everyone may read
};

// Parses "digest:user:password" and returns "user:password". Throws a Failure (64) that names `origin` and never the
// password.
std::string parse_credentials(std::string_view text, std::string_view origin);
// Does the same with the first line of a file. Throws a Failure (64), also if the file cannot be read.
std::string read_credentials(const std::string& file);

}  // namespace zklock::zk
