// SPDX-License-Identifier: Apache-2.0
// Spans that keep a lock safe, as parts of the negotiated session timeout T. ARCHITECTURE.md derives them ("Who is
// heard when"); tests/model/lease_model.cc computes from these functions how long a session lives at least from each
// proof on, for T from two ticks of the servers on.
#pragma once

#include "base/time.h"

#include <algorithm>

namespace zklock::zk {

// Between two requests of any session that is connected (zk::Link sees to that). T/24 less than the longest silence:
// for a busy machine.
constexpr Duration beat_of(Duration session_timeout) {
  return session_timeout / 8;
}

// Between two heartbeats of a lease, and as old as a proof may be on which something is granted. Each is a transaction,
// which all servers write down, so it is as seldom as the patience below leaves time for.
constexpr Duration heartbeat_of(Duration session_timeout) {
  return session_timeout / 6;
}

// Before the first heartbeat of a lease, at least, so that a command which ends at once pays for none; before the next
// one after an answer that proved nothing.
constexpr Duration least_pause_of(Duration session_timeout) {
  return session_timeout / 60;
}

// Between two requests. After a longer silence of ours the leader may be about to expire the session, and nothing
// counts but a new handshake. At T of 3 ticks it is half a tick: below, no report of a follower to its leader is
// without us; above, one in a row at most, so the leader's last word of us is never older than this and half a tick,
// T/3.
constexpr Duration longest_silence_of(Duration session_timeout) {
  return session_timeout / 6;
}

// For an answer. After a proof a server that has lost its quorum costs a heartbeat's time,
// this, and this again for a dead server, T/2 in all, before a third server is asked; one that falls silent a beat and
// twice this, 11T/24.
constexpr Duration patience_of(Duration session_timeout) {
  return session_timeout / 6;
}

// For an attempt to connect. A host that is down does not say so, and who begins with it waits for this; so it does not
// grow with sessions that are made to last.
constexpr Duration attempt_of(Duration session_timeout) {
  return std::min<Duration>(patience_of(session_timeout), std::chrono::milliseconds(2500));
}

// Without a connection, until the servers are asked whether they still want the session. A pause of theirs is mostly
// over by then; and with two more attempts it is less than the usual connect timeout, 15 s.
constexpr Duration doubt_of(Duration session_timeout) {
  return std::min<Duration>(session_timeout / 2, std::chrono::milliseconds(7500));
}

// From the last proof of a lock to the moment by which its command must be dead: T less the age of the leader's last
// word. A proof is the moment before a transaction was sent that a quorum has answered well.
constexpr Duration fence_of(Duration session_timeout) {
  return session_timeout * 2 / 3;
}

// From what our follower has heard to the report that names it: half a tick, which is T/4 at most, and T/24 for what
// delays it.
constexpr Duration longest_report_of(Duration session_timeout) {
  return session_timeout / 4 + session_timeout / 24;
}

// From SIGTERM to SIGKILL for a command that is to end, where nothing else was asked for.
constexpr Duration usual_grace_of(Duration session_timeout) {
  return session_timeout / 10;
}

// Between two looks at its line of a contender that waits, though nothing has woken it: should a wake-up ever be lost,
// the line does not stand still for longer.
constexpr Duration longest_sleep_of(Duration session_timeout) {
  return session_timeout * 6;
}

}  // namespace zklock::zk
