// SPDX-License-Identifier: Apache-2.0
// Which ensemble is meant, who we are to it, and who may use the nodes that we make: as people write it. Servers are
// parsed by us, because the C library takes ports modulo 65536, refuses "[::1]:2181" and turns "h1/a,h2/a" into a
// chroot without a word.
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
  std::string name = {};  // of an address: what it was the answer to, for its certificate; "" where that does not count

  auto operator<=>(const Server&) const = default;
};

// A name or a numeric address, without brackets.
bool is_host_name(std::string_view text);

// "host:port", with brackets where the host is an IPv6 address.
std::string to_string(const Server& server);

// "[tls://]host[:port][,…][/chroot]". As ZooKeeper's own client does, it passes over blanks around a server, and over
// commas with no server between them.
struct ServerList {
  std::vector<Server> servers;  // at least one
  std::string chroot;           // "" or "/a/b": put before every path
  bool tls = false;             // all of them are spoken to by TLS
  std::string origin;           // where the list came from, for messages

  static constexpr const char* kDefaultOrigin = "the default";  // nobody has named servers

  // `tls`: also where the text does not say so. Throws a Failure (64) that names the culprit.
  static ServerList parse(std::string_view text, const std::string& origin, bool tls = false);

  // "tls://web1:2281,[::1]:2281/chroot": complete, as ZKLOCK_SERVERS takes it.
  std::string text() const;

  // By which path we see what is at `path` below the chroot of `other`; nothing where these are other servers, as far
  // as the lists tell, or it is not below our chroot.
  std::optional<std::string> path_here(const ServerList& other, const std::string& path) const;
};

enum class Acl {
  open,                // everybody, everything
  creator,             // only who authenticated as we did
  creator_world_read,  // the same, and everybody may read
};

struct Credentials {
  std::string secret;  // "user:password" for the digest scheme; empty: none
  explicit operator bool() const { return !secret.empty(); }

  // From "digest:user:password". Throws a Failure (64) that names `origin` and never the secret.
  static Credentials parse(std::string_view text, std::string_view origin);
  // The first line of a file. Throws a Failure (64) if it cannot be read.
  static Credentials read_file(const std::string& file);
};

}  // namespace zklock::zk
