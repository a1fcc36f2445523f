// SPDX-License-Identifier: Apache-2.0
#include "host/notify.h"

#include "base/text.h"
#include "host/fd.h"

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sys/socket.h>
#include <sys/un.h>

namespace zklock::host {

namespace {

constexpr size_t kLongestStatus = 1000;  // systemd drops datagrams of more than 4,096 bytes

struct SocketName {
  sockaddr_un name{};
  socklen_t length = 0;
};

// Reads "/path", or "@name" for an abstract socket. Returns nothing for other kinds, or if the name does not fit.
std::optional<SocketName> socket_of(std::string_view text) {
  SocketName socket;
  if (text.empty() || text.size() >= sizeof socket.name.sun_path) return std::nullopt;
  if (text.front() != '/' && text.front() != '@') return std::nullopt;
  socket.name.sun_family = AF_UNIX;
  text.copy(socket.name.sun_path, text.size());
  // Every byte of an abstract name counts, so no NUL may follow it.
  const bool abstract = text.front() == '@';
  if (abstract) socket.name.sun_path[0] = '\0';
  socket.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (abstract ? 0 : 1));
  return socket;
}

}  // namespace

void notify_status(std::string_view text) {
  const char* const variable = std::getenv("NOTIFY_SOCKET");
  const auto manager = socket_of(variable ? variable : "");
  if (!manager) return;
  const Fd sending(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Text from a node could otherwise add lines to the message.
  const std::string message = "STATUS=" + shorten(printable(text), kLongestStatus);
  static_cast<void>(sendto(sending.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&manager->name), manager->length));
}

}  // namespace zklock::host
