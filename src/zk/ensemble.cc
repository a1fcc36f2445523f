// SPDX-License-Identifier: Apache-2.0
#include "zk/ensemble.h"

#include "base/contains.h"
#include "base/failure.h"
#include "base/text.h"
#include "host/fd.h"
#include "zk/path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include <fmt/format.h>

namespace zklock::zk {

namespace {

constexpr std::optional<int64_t> kDefaultPort = 2181;
constexpr std::optional<int64_t> kDefaultTlsPort = 2281;  // ZooKeeper has no default; its documentation uses this one
constexpr std::string_view kTlsScheme = "tls://";
constexpr size_t kLongestLine = 64 * 1024;  // of a file with credentials

// Returns true for a byte that is not allowed in a host's name or address.
bool is_strange(unsigned char byte) {
  return byte <= ' ' || byte == 0x7f || byte == '[' || byte == ']' || byte == '*' || byte == '/';
}

// Returns the Failure for a part of a list that is bad.
using Bad = std::function<Failure(std::string_view culprit, std::string_view reason)>;

Server parse_server(std::string_view item, bool tls, const Bad& bad) {
  const bool bracketed = item.starts_with('[');
  const size_t end = bracketed ? item.find(']') : std::min(item.find(':'), item.size());
  if (end == std::string_view::npos) throw bad(item, "']' is missing");
  const std::string host(bracketed ? item.substr(1, end - 1) : item.substr(0, end));
  const std::string_view rest = item.substr(bracketed ? end + 1 : end);
  if (std::ranges::count(rest, ':') > 1) throw bad(item, "write an IPv6 address as [ADDRESS]:PORT");
  if (!rest.empty() && rest[0] != ':') throw bad(item, "only :PORT may follow ']'");
  if (host.empty()) throw bad(item, "the host is missing");
  if (!is_host_name(host)) throw bad(item, "not a host name");
  const auto port = !rest.empty() ? parse_number(rest.substr(1)) : tls ? kDefaultTlsPort : kDefaultPort;
  if (!port || *port < 1 || *port > 65535) throw bad(item, "a port is a number from 1 to 65535");
  return {host, static_cast<uint16_t>(*port)};
}

std::string parse_chroot(std::string_view text, const Bad& bad) {
  // People write "host/" to mean "no chroot", and other tools take it so.
  if (text == "/") return "";
  if (text.find(',') != std::string_view::npos) throw bad(text, "the chroot stands once, behind the last server");
  if (const auto reason = path_error(text)) throw bad(text, *reason);
  return std::string(text);
}

// Returns the first line without its end. Throws a Failure (64), also if the line is too long.
std::string first_line_of(const std::string& file) {
  const auto unusable = [&](const char* reason) {
    return Failure(ExitStatus::usage, fmt::format("cannot read credentials from '{}': {}; name a file with the line "
                                                  "digest:USER:PASSWORD",
                                                  printable(file), reason));
  };
  const host::Fd opened = host::open_to_read(file);
  std::string text;
  char part[4096];
  ssize_t length = 1;
  while (opened && text.find('\n') == std::string::npos && text.size() <= kLongestLine && length > 0) {
    length = ::read(opened.get(), part, sizeof part);
    text.append(part, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  }
  if (!opened || length < 0) throw unusable(std::strerror(errno));
  if (text.empty()) throw unusable("it is empty");
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.size() > kLongestLine) throw unusable("its first line has no end");
  return text;
}

}  // namespace

ServerList ServerList::parse(std::string_view text, const std::string& origin, bool tls) {
  text = trimmed(text);
  const Bad bad = [&](std::string_view culprit, std::string_view reason) {
    const std::string which = culprit == text ? "" : fmt::format("'{}': ", printable(culprit));
    return Failure(ExitStatus::usage,
                   fmt::format("bad server list '{}' (from {}): {}{}", printable(text), origin, which, reason));
  };
  const bool scheme = text.starts_with(kTlsScheme);
  const std::string_view rest = text.substr(scheme ? kTlsScheme.size() : 0);
  if (rest.find("://") != std::string_view::npos) {
    throw bad(text, scheme ? "tls:// stands once, before the first server"
                           : "the only scheme is tls://; write HOST[:PORT],HOST[:PORT]");
  }
  ServerList list;
  list.tls = tls || scheme;
  list.origin = origin;
  const size_t slash = rest.find('/');
  for (const std::string_view item : split(rest.substr(0, slash), ',')) {
    if (!trimmed(item).empty()) list.servers.push_back(parse_server(trimmed(item), list.tls, bad));
  }
  if (list.servers.empty()) throw bad(text, "a server is missing; write HOST[:PORT],HOST[:PORT]");
  if (slash != std::string_view::npos) list.chroot = parse_chroot(rest.substr(slash), bad);
  return list;
}

// In the check of a certificate, a name that begins with a dot would stand for all names below it.
bool is_host_name(std::string_view text) {
  return !text.empty() && text[0] != '.' && std::ranges::none_of(text, is_strange);
}

std::string to_string(const Server& server) {
  const bool ipv6 = server.host.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", server.host, server.port) : fmt::format("{}:{}", server.host, server.port);
}

std::string ServerList::text() const {
  std::vector<std::string> texts;
  for (const Server& server : servers) texts.push_back(to_string(server));
  return fmt::format("{}{}{}", tls ? kTlsScheme : "", fmt::join(texts, ","), chroot);
}

std::optional<std::string> ServerList::path_here(const ServerList& other, const std::string& path) const {
  const auto is_ours = [this](const Server& server) { return contains(servers, server); };
  // An ensemble may have one port with TLS and one without.
  if (tls == other.tls && std::ranges::none_of(other.servers, is_ours)) return std::nullopt;
  const std::string full = other.chroot + path;
  if (!chroot.empty() && !full.starts_with(chroot + "/")) return std::nullopt;
  return full.substr(chroot.size());
}

std::string parse_credentials(std::string_view text, std::string_view origin) {
  constexpr std::string_view kScheme = "digest:";
  const std::string_view secret = text.starts_with(kScheme) ? text.substr(kScheme.size()) : std::string_view();
  const size_t colon = secret.find(':');
  const bool complete = colon != 0 && colon != std::string_view::npos;
  if (!complete || !is_utf8(secret)) {
    throw Failure(ExitStatus::usage, fmt::format("bad credentials from {}: write digest:USER:PASSWORD", origin));
  }
  return std::string(secret);
}

std::string read_credentials(const std::string& file) {
  std::string line = first_line_of(file);
  if (line.ends_with('\r')) line.pop_back();  // the file was written on Windows
  return parse_credentials(line, fmt::format("'{}'", printable(file)));
}

}  // namespace zklock::zk
