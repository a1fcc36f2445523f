// SPDX-License-Identifier: Apache-2.0
// When the leader has heard of a session last, at least, as far as its client can tell: what the fence of a lock counts
// on. The leader hears of it by a handshake, and by the reports of our follower, one in each half tick, of the sessions
// that it has heard from. When a request has reached our follower is known only to lie between its sending and its
// answer. ARCHITECTURE.md derives what follows from that ("Who is heard when"); tests/model/lease_model.cc runs this
// class through all phases and delays.
#pragma once

#include "base/time.h"

#include <deque>

namespace zklock::zk {

class LastHeard {
 public:
  // An answer may take `allowance` beyond a beat, whatever T is. It matters only if T is short.
  explicit LastHeard(Duration allowance = Duration::zero()) : allowance_(allowance) {}

  // A handshake that the leader has counted at this moment or later; all connections before are forgotten.
  void begin(Deadline handshake);
  // A request was answered, the latest of those that are; `timeout` is T.
  void note_answer(Deadline sent, Deadline answered, Duration timeout);
  // Returns the moment from which a proof sent now counts. That is now, as long as our follower has surely heard from
  // us every T/6, and the last request that was answered is at most T/3 old. After a longer gap, it is at most T/3
  // after the leader's last word of us, until a report names what came after the gap. To be called after begin().
  Deadline proof_at(Deadline now, Duration timeout) const;

 private:
  struct Answered {
    Deadline sent;
    Deadline answered;
  };

  Duration allowance_;
  Deadline steady_from_{};       // a report has named us since the last gap
  Deadline last_sent_{};         // of what was answered
  Deadline word_{};              // the leader knows that we lived then
  std::deque<Answered> recent_;  // may not be in a report yet; oldest first
};

}  // namespace zklock::zk
