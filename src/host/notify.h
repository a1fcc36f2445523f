// SPDX-License-Identifier: Apache-2.0
// What a service manager is told of us, by the protocol of sd_notify(3): a datagram to the socket in NOTIFY_SOCKET.
// Only STATUS=, a line for people: READY= and all else are the command's to say.
#pragma once

#include <string_view>

namespace zklock::host {

// `text` as one line, cut if it is very long. Does nothing without NOTIFY_SOCKET, never waits, and passes over whatever
// fails: nothing may depend on it.
void notify_status(std::string_view text);

}  // namespace zklock::host
