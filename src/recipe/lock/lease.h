// SPDX-License-Identifier: Apache-2.0
// The proof that what we hold is still ours, renewed while the command runs. A client that looks connected may have
// lost its session already: a follower that was cut off from its leader goes on answering reads and pings. So every T/6
// (T: the negotiated session timeout) a quorum is asked about our nodes, all in one transaction; `proved` is the moment
// just before the last request that was answered well. A server counts a session out later than the fence, proved +
// 2T/3 (ARCHITECTURE.md, "Who is heard when"). By then the command must be dead.
#pragma once

#include "host/loop.h"
#include "recipe/lock/protected_node.h"
#include "zk/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace zklock::recipe {

enum class LeaseState {
  held,
  node_deleted,  // by somebody, while our session lived
  revoked,       // somebody asks us to let go; it is ours until we do
  expired,       // the session is over
  unproved,      // no quorum has confirmed the lock in time; it may be another's from the fence on
};

// What else of a node counts.
enum class LeaseWatch {
  nodes,    // that it goes, and what is written into it: seen at once
  nothing,  // that it goes is seen by the next heartbeat
};

class Lease : public host::Source {
 public:
  using State = LeaseState;
  using Watched = LeaseWatch;

  // On what was acquired in the session as it is now. `grace`: what the command gets between SIGTERM and SIGKILL; the
  // lease ends so long before the fence.
  Lease(zk::Session& session, const std::vector<Held>& held, Duration grace, Watched watched = Watched::nodes);

  // From now on on this too.
  void add(const Held& held);
  // No longer on this: call it before the node is deleted. A lease on nothing is held for ever.
  void drop(const std::string& node);
  // For a proof from now on, sooner than its next heartbeat gives one.
  void ask() { next_heartbeat_ = BootClock::now(); }
  // On nothing, whatever was lost: for what is acquired from now on.
  void clear();

  State state() const { return state_; }
  Deadline fence() const { return fence_; }
  Deadline proved() const { return proved_; }
  // Which of several it was that was deleted or revoked; empty where that is not known.
  const std::string& lost() const { return lost_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  struct HeldNode {
    Held held;
    zk::Watch watch;  // on the node; nothing: look again
    zk::Call call;    // the read that sets it, if under way
  };

  void look();
  void take_heartbeat();
  void send_heartbeat();
  void take(HeldNode& node);
  void send(HeldNode& node);
  void end(State state, const Held& held);
  void move_fence();

  zk::Session& session_;
  Duration grace_;
  Watched watched_;
  State state_ = State::held;
  std::vector<HeldNode> nodes_;
  Deadline proved_ = kNever;
  Deadline fence_ = kNever;
  uint64_t connections_;  // as of the last decision
  Deadline next_heartbeat_ = kNever;
  zk::Call heartbeat_;  // under way, if any
  Deadline sent_{};     // when
  Deadline proof_{};    // what an answer to it proves; for a while after a handshake that is less
  std::string lost_;
};

}  // namespace zklock::recipe
