// SPDX-License-Identifier: Apache-2.0
// Reports our status to a service manager by the protocol of sd_notify(3): a datagram to the socket in NOTIFY_SOCKET.
// We send only STATUS=, a line for people. READY= and all other messages are left to the command.
#pragma once

#include <string_view>

namespace zklock::host {

// Sends `text` as one line, cut to 1,000 bytes. Does nothing without NOTIFY_SOCKET, never waits, and ignores every
// failure, so nothing may depend on it.
void notify_status(std::string_view text);

}  // namespace zklock::host
