// SPDX-License-Identifier: Apache-2.0
// Tells from which moment a proof counts: since when the leader has surely heard of our session. The leader hears of it
// through a handshake, and through the reports of our follower. Each half tick, a report names the sessions that the
// follower has heard from. We know only that a request reached the follower between its sending and its answer.
// ARCHITECTURE.md derives the rules ("Who is heard when"). tests/model/lease_model.cc runs this class. zk::Link owns it
// and reports handshakes and answers to it. This code is pure.
#pragma once

#include "base/time.h"

#include <deque>

namespace zklock::zk {

class LastHeard {
 public:
  // `allowance`: how much longer than a beat an answer may take without counting as a gap, however short T is.
  explicit LastHeard(Duration allowance = Duration::zero()) : allowance_(allowance) {}

  // Begins with a new connection. `handshake`: the leader has counted its handshake at this moment or later.
  void begin(Deadline handshake);
  // Notes that a request of this connection was answered, the latest one so far. `timeout` is T.
  void note_answer(Deadline sent, Deadline answered, Duration timeout);
  // Returns the moment from which a proof that is sent at `now` counts. Call it after begin(). It is `now` if the
  // follower has surely heard from us every T/6, and the last answered request is at most T/3 old. After a longer gap,
  // it is T/3 after the last moment that the leader surely knows of, and at most `now`. This lasts until a report must
  // have named a request after the gap.
  Deadline proof_at(Deadline now, Duration timeout) const;

 private:
  struct Answered {
    Deadline sent;
    Deadline answered;
  };

  Duration allowance_;
  Deadline steady_from_{};       // by then, a report has named us since the last gap; kNever: no answer yet
  Deadline last_sent_{};         // the sending of the last answered request; zero: none on this connection
  Deadline word_{};              // the leader surely knows that we lived then
  std::deque<Answered> recent_;  // requests that may not be in a report yet, oldest first
};

}  // namespace zklock::zk
