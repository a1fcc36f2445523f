// SPDX-License-Identifier: Apache-2.0
// The proof that a lock is still ours, renewed while the command runs. A client that looks connected may have lost its
// session already: a follower that was cut off from its leader goes on answering reads and pings. So every T/6 (T: the
// negotiated session timeout) a quorum is asked about our node; `proved` is the moment just before the last request
// that was answered well. A server counts a session out no earlier than proved + T less its own imprecision, of which
// the ticks of a follower's report to its leader are the larger part; with T of two ticks at least that is later than
// the fence, proved + 2T/3. By then the command must be dead.
#pragma once

#include "host/loop.h"
#include "zk/session.h"

#include <cstdint>
#include <string>

namespace zklock::recipe {

class Lease : public host::Source {
 public:
  // `node`: our own, held in the session as it is now. `proved`: see Lock::proved(). `grace`: what the command gets
  // between SIGTERM and SIGKILL; the lease ends so long before the fence. Also watches the node.
  Lease(zk::Session& session, std::string node, Deadline proved, Duration grace);

  enum class State {
    held,
    node_deleted,  // by somebody, while our session lived
    expired,       // the session is over
    unproved,      // no quorum has confirmed the lock in time; it may be another's from the fence on
  };
  State state() const { return state_; }
  Deadline fence() const { return fence_; }
  Deadline proved() const { return proved_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  void take_heartbeat();
  void take_look();
  void look();
  void move_fence();

  zk::Session& session_;
  std::string node_;
  Duration grace_;
  State state_ = State::held;
  Deadline proved_;
  Deadline fence_ = kNever;
  uint64_t connections_;  // as of the last decision
  Deadline next_heartbeat_;
  zk::Call heartbeat_;  // under way, if any
  Deadline sent_{};     // when
  zk::Watch watch_;     // on the node; nothing: look again
  zk::Call look_;       // the read that sets it, if under way
};

}  // namespace zklock::recipe
