// SPDX-License-Identifier: Apache-2.0
#include "host/notify.h"

#include "base/text.h"
#include "host/fd.h"

#include <cstddef>
#include <sys/socket.h>
#include <sys/un.h>

namespace zklock::host {

namespace {

constexpr size_t kLongestStatus = 1000;  // systemd drops datagrams of more than 4,096 bytes

// Sets `name` to "/path", or to "@name" for an abstract socket, and returns its length. Returns 0 for other kinds, or
// if the name does not fit.
size_t read_name(std::string_view text, sockaddr_un& name) {
  const bool abstract = text.starts_with('@');
  if (text.size() >= sizeof name.sun_path || (!abstract && !text.starts_with('/'))) return 0;
  name.sun_family = AF_UNIX;
  text.copy(name.sun_path, text.size());
  if (abstract) name.sun_path[0] = '\0';
  // Every byte of an abstract name counts, so no NUL may follow it.
  return offsetof(sockaddr_un, sun_path) + text.size() + (abstract ? 0 : 1);
}

}  // namespace

void notify_status(std::string_view text) {
  sockaddr_un manager{};
  const size_t length = read_name(environment("NOTIFY_SOCKET"), manager);
  if (length == 0) return;
  const Fd sending(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Text from a node could otherwise add lines to the message.
  const std::string message = "STATUS=" + shorten(printable(text), kLongestStatus);
  static_cast<void>(sendto(sending.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&manager), static_cast<socklen_t>(length)));
}

}  // namespace zklock::host
