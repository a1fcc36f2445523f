// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lease.h"

#include "recipe/line.h"
#include "zk/timing.h"

#include <algorithm>

namespace zklock::recipe {

using zk::Code;

namespace {

constexpr int kRetries = 60;  // in a session timeout

// What an answer says of our node.
enum class Word { there, deleted, expired, none };

Word word_of(Code code) {
  switch (code) {
    case Code::ok:
      return Word::there;
    case Code::no_node:
      return Word::deleted;
    case Code::expired:
      return Word::expired;
    case Code::unknown:
    case Code::node_exists:
    case Code::not_empty:
    case Code::bad_version:
    case Code::childless:
    case Code::no_auth:
    case Code::unsupported:
    case Code::other:
      break;
  }
  return Word::none;
}

}  // namespace

Lease::Lease(zk::Session& session, const std::vector<Held>& held, Duration grace, Watched watched)
    : session_(session), grace_(grace), watched_(watched), connections_(session.client().connections()) {
  for (const Held& one : held) add(one);
}

void Lease::add(const Held& held) {
  proved_ = std::min(proved_, held.proved);
  next_heartbeat_ = std::min(next_heartbeat_, held.proved + zk::beat_of(session_.timeout()));
  move_fence();
  looks_.push_back({held, nullptr, nullptr});
  if (watched_ == Watched::nodes) send(looks_.back());
}

void Lease::drop(const std::string& node) {
  std::erase_if(looks_, [&](const Look& look) { return look.held.node == node; });
  if (looks_.empty() && state_ == State::held) clear();
}

void Lease::clear() {
  state_ = State::held;
  looks_.clear();
  heartbeat_.reset();
  proved_ = fence_ = next_heartbeat_ = kNever;
  lost_.clear();
}

void Lease::arm(host::PollSet& set) {
  if (state_ != State::held || looks_.empty()) return;
  set.wake_at(fence_ - grace_);
  if (!heartbeat_ && session_.connected()) set.wake_at(next_heartbeat_);
}

// Here and not while recording: only now has every source recorded, the session's too.
void Lease::decide() {
  if (state_ != State::held || looks_.empty()) return;
  // The clock first: after a pause of ours the guard has killed the command already, whatever the answers say that
  // have piled up.
  const Deadline now = BootClock::now();
  if (now >= fence_ - grace_) {
    state_ = State::unproved;
    return;
  }
  if (heartbeat_ && heartbeat_->done) take_heartbeat();
  for (Look& look : looks_) {
    if (look.call && look.call->done) take(look);
  }
  if (session_.expired()) state_ = State::expired;
  if (state_ != State::held || !session_.connected()) return;
  if (connections_ != session_.client().connections()) {
    // The handshake alone proves nothing, a leader may be deposed: ask at once.
    connections_ = session_.client().connections();
    next_heartbeat_ = now;
  }
  move_fence();
  if (!heartbeat_ && now >= next_heartbeat_) send_heartbeat();
  if (watched_ == Watched::nothing) return;
  for (Look& look : looks_) {
    if (!look.call && (!look.watch || look.watch->fired)) send(look);
  }
}

void Lease::send_heartbeat() {
  std::vector<std::string> nodes;
  for (const Look& look : looks_) nodes.push_back(look.held.node);
  sent_ = BootClock::now();
  proof_ = session_.proof_now();
  heartbeat_ = session_.client().check(nodes);
}

void Lease::take_heartbeat() {
  // An answer that says nothing, like a throttling server's, is no reason to press it.
  next_heartbeat_ = sent_ + session_.timeout() / kRetries;
  switch (word_of(heartbeat_->answer.code)) {
    case Word::there:
      proved_ = proof_;
      fence_ = kNever;  // may grow
      next_heartbeat_ = sent_ + zk::beat_of(session_.timeout());
      break;
    case Word::deleted:
      state_ = State::node_deleted;
      if (looks_.size() == 1) lost_ = looks_.front().held.path;
      break;
    case Word::expired:
      state_ = State::expired;
      break;
    case Word::none:
      break;
  }
  heartbeat_.reset();
  move_fence();
}

// A reconnect may negotiate another timeout: a shorter one counts at once, a longer one from the next proof on.
void Lease::move_fence() {
  fence_ = std::min(fence_, proved_ + zk::fence_of(session_.timeout()));
}

void Lease::send(Look& look) {
  look.watch = std::make_shared<zk::WatchState>();
  look.call = session_.client().read(look.held.node, look.watch);
}

void Lease::take(Look& look) {
  const zk::Answer answer = std::exchange(look.call, nullptr)->answer;
  switch (word_of(answer.code)) {
    case Word::there:
      if (answer.stat.ephemeral_owner != look.held.owner) return end(State::node_deleted, look.held);
      if (answer.data == kRevoked) return end(State::revoked, look.held);
      break;
    case Word::deleted:
      return end(State::node_deleted, look.held);
    case Word::expired:
      state_ = State::expired;
      break;
    case Word::none:
      // Lost with the connection: look again. Refused, it is not worth asking again; the heartbeat goes on.
      if (answer.code == Code::unknown) look.watch.reset();
      break;
  }
}

void Lease::end(State state, const Held& held) {
  state_ = state;
  lost_ = held.path;
}

}  // namespace zklock::recipe
