// SPDX-License-Identifier: Apache-2.0
// Spans that keep a lock safe, as parts of the negotiated session timeout T. They fit together: a server that falls
// silent right behind an answer costs one heartbeat, one cut and one attempt at a dead server, T/2 in all, before a
// third server is asked; the fence is at 2T/3.
#pragma once

#include "base/time.h"

namespace zklock::zk {

// Between heartbeats; for an answer; for an attempt to connect.
constexpr Duration beat_of(Duration session_timeout) {
  return session_timeout / 6;
}

// From the last proof of a lock to the moment by which its command must be dead.
constexpr Duration fence_of(Duration session_timeout) {
  return session_timeout * 2 / 3;
}

// From SIGTERM to SIGKILL for a command that is to end, where nothing else was asked for.
constexpr Duration usual_grace_of(Duration session_timeout) {
  return session_timeout / 10;
}

}  // namespace zklock::zk
