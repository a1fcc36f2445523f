// SPDX-License-Identifier: Apache-2.0
// The lease proves that what we hold is still ours, and is renewed while the command runs. A client that looks
// connected may have lost its session already: a follower that is cut off from its leader goes on answering reads and
// pings. So every T/6 (T: the negotiated session timeout) it asks a quorum about all our nodes, in one transaction.
// `proved` is the moment just before the last request that was answered well. The servers do not expire the session
// before the fence, proved + 2T/3 (ARCHITECTURE.md, "Who is heard when"). By the fence the command must be dead.
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
  node_deleted,  // by another client, while our session lived
  revoked,       // we were asked to let go; the lock is ours until we do
  session_over,
  unproved,  // no quorum has confirmed the lock in time; from the fence on another client may hold it
};

// What the lease watches besides its heartbeats.
enum class LeaseWatch {
  nodes,    // deletion of a node and writes to it: seen at once
  nothing,  // the next heartbeat notices a deletion
};

class Lease : public host::Source {
 public:
  // Covers what was acquired in the present session. `grace` is the time that the command gets between SIGTERM and
  // SIGKILL. The lease ends that long before the fence.
  Lease(zk::Session& session, const std::vector<Held>& held, Duration grace, LeaseWatch watched = LeaseWatch::nodes);

  // Covers `held` as well from now on.
  void add(const Held& held);
  // No longer covers `node`. To be called before the node is deleted. A lease that covers nothing never ends.
  void drop(const std::string& node);
  // Sends another heartbeat as soon as none is under way. Its proof is younger than this call.
  void ask() { heartbeat_.asked = true; }
  // Covers nothing from now on and forgets what was lost, so that new locks can be added.
  void clear();

  LeaseState state() const { return state_; }
  Deadline fence() const { return fence_; }
  Deadline proved() const { return proved_; }
  // Returns which path's node was deleted or revoked; empty if that is not known.
  const std::string& lost() const { return lost_; }

  void arm(host::PollSet& set) override;
  void record(const host::PollSet&) override {}
  void decide() override;

 private:
  struct HeldNode {
    Held held;      // without a watch: it is to be set again
    zk::Call call;  // the read that sets the watch, if under way
  };

  struct Heartbeat {
    Deadline next = kNever;
    bool asked = false;  // the caller wants one before `next`
    zk::Call call;       // under way, if any
    Deadline sent{};     // when that was sent
    // The moment that an answer to it proves (Session::proof_now). Soon after a handshake, it is before `sent`.
    Deadline proof{};
  };

  void look();
  void take_heartbeat();
  void send_heartbeat();
  bool is_unwatched(const HeldNode& node) const;
  void take(HeldNode& node);
  void send(HeldNode& node);
  void end(LeaseState state, const Held& held);
  void move_fence();

  zk::Session& session_;
  Duration grace_;
  LeaseWatch watched_;
  LeaseState state_ = LeaseState::held;
  std::vector<HeldNode> nodes_;
  Deadline proved_ = kNever;
  Deadline fence_ = kNever;
  uint64_t connections_;  // as of the last decision
  Heartbeat heartbeat_;
  std::string lost_;
};

}  // namespace zklock::recipe
