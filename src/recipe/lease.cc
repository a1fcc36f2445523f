// SPDX-License-Identifier: Apache-2.0
#include "recipe/lease.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Code;

namespace {

constexpr int kHeartbeats = 6;  // in a session timeout

}  // namespace

Lease::Lease(zk::Session& session, std::string node, Deadline proved, Duration grace)
    : session_(session),
      node_(std::move(node)),
      grace_(grace),
      proved_(proved),
      next_heartbeat_(proved + session.timeout() / kHeartbeats) {
  move_fence();
  look();
}

void Lease::arm(host::PollSet& set) {
  if (state_ != State::held) return;
  set.wake_at(fence_ - grace_);
  if (!heartbeat_ && session_.connected()) set.wake_at(next_heartbeat_);
}

// Here and not while recording: only now has every source recorded, the session's too.
void Lease::decide() {
  if (state_ != State::held) return;
  // The clock first: after a pause of ours the guard has killed the command already, whatever the answers say that
  // have piled up.
  const Deadline now = BootClock::now();
  if (now >= fence_ - grace_) {
    state_ = State::unproved;
    return;
  }
  if (heartbeat_ && heartbeat_->done) take_heartbeat();
  if (look_ && look_->done) take_look();
  if (session_.expired()) state_ = State::expired;
  if (state_ != State::held || !session_.connected()) return;
  move_fence();
  if (!heartbeat_ && now >= next_heartbeat_) {
    sent_ = now;
    heartbeat_ = session_.client().check({node_});
  }
  if (!look_ && (!watch_ || watch_->fired)) look();
}

void Lease::take_heartbeat() {
  switch (heartbeat_->answer.code) {
    case Code::ok:
      proved_ = sent_;
      fence_ = kNever;
      next_heartbeat_ = sent_ + session_.timeout() / kHeartbeats;
      break;
    case Code::no_node:
      state_ = State::node_deleted;
      break;
    case Code::expired:
      state_ = State::expired;
      break;
    case Code::unknown:
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      // No proof. Asked again as soon as there is a connection.
      next_heartbeat_ = sent_;
      break;
  }
  heartbeat_.reset();
  move_fence();
}

// A reconnect may negotiate another timeout: a shorter one counts at once, a longer one from the next proof on.
void Lease::move_fence() {
  fence_ = std::min(fence_, proved_ + session_.timeout() * 2 / 3);
}

void Lease::look() {
  watch_ = std::make_shared<zk::WatchState>();
  look_ = session_.client().read(node_, watch_);
}

void Lease::take_look() {
  switch (look_->answer.code) {
    case Code::ok:
      if (look_->answer.stat.ephemeral_owner != session_.id()) state_ = State::node_deleted;
      break;
    case Code::no_node:
      state_ = State::node_deleted;
      break;
    case Code::expired:
      state_ = State::expired;
      break;
    case Code::no_auth:  // somebody has changed the ACL; the node is there
      break;
    case Code::unknown:
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::unsupported:
    case Code::other:
      watch_.reset();  // look again once there is a connection
      break;
  }
  look_.reset();
}

}  // namespace zklock::recipe
