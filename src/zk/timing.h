// SPDX-License-Identifier: Apache-2.0
// Time spans that keep a lock safe, as parts of the negotiated session timeout T. ARCHITECTURE.md derives them ("Who is
// heard when"). tests/model/lease_model.cc computes from these functions how long a session lives at least after each
// proof, if T is at least two of the servers' ticks.
#pragma once

#include "base/time.h"

#include <algorithm>

namespace zklock::zk {

// Returns the time between two requests of any connected session (zk::Link sends them). It is T/24 less than the
// longest silence, which allows for a busy machine.
constexpr Duration beat_of(Duration session_timeout) {
  return session_timeout / 8;
}

// What a busy machine may add to a beat, however short T is: with T below 1.2 s, it is more than longest_silence_of
// allows, and the argument for the fence does not hold for so much.
constexpr Duration kBusyMachine = std::chrono::milliseconds(50);

// Returns the time between two heartbeats of a lease. A proof on which something is granted is no older than this.
// Heartbeats are transactions, which all servers log, so they are as rare as the patience below allows.
constexpr Duration heartbeat_of(Duration session_timeout) {
  return session_timeout / 6;
}

// Returns the least time before the first heartbeat of a lease, so that a command which ends at once pays for none. It
// is also the least time before the next heartbeat after an answer that proved nothing.
constexpr Duration least_pause_of(Duration session_timeout) {
  return session_timeout / 60;
}

// Returns the longest time between two requests. After a longer silence, the leader may be about to expire the session,
// and only a new handshake counts. At T = 3 ticks it is half a tick. If T is at most 3 ticks, every report of a
// follower to its leader includes us. If T is more, two reports that include us are less than this and half a tick
// apart. So the leader last heard of us at most T/3 ago.
constexpr Duration longest_silence_of(Duration session_timeout) {
  return session_timeout / 6;
}

// Returns how long an answer may take. If a server has lost its quorum and the second one is dead, a third server is
// asked T/2 after the last proof: the time of a heartbeat and twice this. If the server falls silent, it is a beat and
// twice this, 11T/24.
constexpr Duration patience_of(Duration session_timeout) {
  return session_timeout / 6;
}

// Returns how long an attempt to connect may take. A host that is down does not say so, and a client that begins with
// it waits for this. So it does not grow with sessions that are meant to last.
constexpr Duration attempt_of(Duration session_timeout) {
  return std::min<Duration>(patience_of(session_timeout), std::chrono::milliseconds(2500));
}

// Returns how long we are without a connection before the servers are asked whether they still want the session. By
// then, most pauses of servers are over. With two more attempts it is less than the default connect timeout, 15 s.
constexpr Duration doubt_of(Duration session_timeout) {
  return std::min<Duration>(session_timeout / 2, std::chrono::milliseconds(7500));
}

// Returns the time from the last proof of a lock until its command must be dead: T less the age of what the leader last
// heard of us. A proof is the moment before a transaction was sent that a quorum has carried out.
constexpr Duration fence_of(Duration session_timeout) {
  return session_timeout * 2 / 3;
}

// Returns the longest time after our follower has heard from us until its report names us: half a tick, which is T/4 at
// most, and T/24 for delays.
constexpr Duration longest_report_of(Duration session_timeout) {
  return session_timeout / 4 + session_timeout / 24;
}

// Returns the time from SIGTERM to SIGKILL for a command that must end, unless another one was requested.
constexpr Duration usual_grace_of(Duration session_timeout) {
  return session_timeout / 10;
}

// Returns how long a waiting contender sleeps before it checks its line although nothing has woken it. If a wake-up is
// ever lost, the line stands still for no longer than this.
constexpr Duration longest_sleep_of(Duration session_timeout) {
  return session_timeout * 6;
}

}  // namespace zklock::zk
