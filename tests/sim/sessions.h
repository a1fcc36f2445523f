// SPDX-License-Identifier: Apache-2.0
// What a leader knows about sessions: when they expire, which server each of them belongs to, and which are closing.
#pragma once

#include "world.h"

#include <cstdint>
#include <map>
#include <vector>

namespace zklock::sim {

class Sessions {
 public:
  static constexpr int kAnyOwner = -1;

  // A leader that has just been elected: it gives all sessions, by id with their timeouts in ms, their whole time, and
  // takes the first server that asks for a session as its owner. Sessions expire at multiples of `tick`, which it
  // counts from a random moment.
  void begin(Time tick, const std::map<int64_t, int32_t>& timeouts);
  void add(int64_t session, int32_t timeout, int owner);
  // Returns false if it does not exist or is closing.
  bool touch(int64_t session, int32_t timeout);
  // Like touch, and `owner` has it from now on.
  bool renew(int64_t session, int32_t timeout, int owner);
  // Returns 0 if `owner` may change something in its name, or the error.
  int32_t check(int64_t session, int owner);
  // It cannot be renewed any more.
  void close(int64_t session);
  void remove(int64_t session) { sessions_.erase(session); }
  // Those whose time is over; they are closing now.
  std::vector<int64_t> take_expired();
  // When sessions expire next.
  Time next_tick() const { return round_up(world->now); }

  // A report on its way says that the session was heard; only a cut at this very moment would keep it from the leader.
  void announce(int64_t session, int32_t timeout);
  // The session lives at least so long by the leader's last word of it; 0 if it is not known.
  Time lives_until(int64_t session) const;

 private:
  struct Session {
    int owner = kAnyOwner;
    bool closing = false;
    Time expires = 0;
    Time lives_until = 0;
  };
  Time round_up(Time time) const { return ((time + phase_) / tick_ + 1) * tick_ - phase_; }

  Time tick_ = second;
  Time phase_ = 0;
  std::map<int64_t, Session> sessions_;
};

}  // namespace zklock::sim
