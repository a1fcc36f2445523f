// SPDX-License-Identifier: Apache-2.0
#include "recipe/lease.h"

namespace zklock::recipe {

using zk::Code;

Lease::Lease(zk::Session& session, std::string node) : session_(session), node_(std::move(node)) {
  look();
}

void Lease::look() {
  connections_ = session_.client().connections();
  watch_ = std::make_shared<zk::WatchState>();
  look_ = session_.client().read(node_, watch_);
}

// Here and not while recording: only now has every source recorded, the session's too.
void Lease::decide() {
  if (state_ != State::held) return;
  if (session_.expired()) state_ = State::expired;
  if (look_ && look_->done) take_answer();
  if (state_ != State::held || look_ || !session_.connected()) return;
  const bool reconnected = session_.client().connections() != connections_;
  if (!watch_ || watch_->fired || reconnected) look();
}

void Lease::take_answer() {
  const zk::Answer& answer = look_->answer;
  switch (answer.code) {
    case Code::ok:
      if (answer.stat.ephemeral_owner != session_.id()) state_ = State::node_deleted;
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
