// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/lease.h"

#include "host/trace.h"
#include "recipe/line.h"
#include "zk/timing.h"

#include <algorithm>
#include <utility>

namespace zklock::recipe {

using zk::Code;

namespace {

const char* name_of(LeaseState state) {
  switch (state) {
    case LeaseState::held: return "held";
    case LeaseState::node_deleted: return "deleted";
    case LeaseState::revoked: return "revoked";
    case LeaseState::session_over: return "expired";
    case LeaseState::unproved: return "unproved";
  }
  return "";
}

}  // namespace

Lease::Lease(zk::Session& session, const std::vector<Held>& held, Duration grace, LeaseWatch watched)
    : session_(session), grace_(grace), watched_(watched), connections_(session.client().connections()) {
  for (const Held& one : held) add(one);
}

void Lease::add(const Held& held) {
  proved_ = std::min(proved_, held.proved);
  const Deadline due = held.proved + zk::heartbeat_of(session_.timeout());
  heartbeat_.next = std::min(heartbeat_.next, std::max(due, deadline_in(zk::least_pause_of(session_.timeout()))));
  move_fence();
  nodes_.push_back({held, nullptr});
  if (watched_ == LeaseWatch::nodes && !held.watch) send(nodes_.back());
}

void Lease::drop(const std::string& node) {
  std::erase_if(nodes_, [&](const HeldNode& one) { return one.held.node == node; });
  if (nodes_.empty() && state_ == LeaseState::held) clear();
}

void Lease::clear() {
  state_ = LeaseState::held;
  nodes_.clear();
  heartbeat_.call.reset();
  proved_ = fence_ = heartbeat_.next = kNever;
  heartbeat_.asked = false;
  lost_.clear();
}

void Lease::arm(host::PollSet& set) {
  if (state_ != LeaseState::held || nodes_.empty()) return;
  set.wake_at(fence_ - grace_);
  if (!session_.connected()) return;
  if (!heartbeat_.call) set.wake_at(heartbeat_.asked ? Deadline{} : heartbeat_.next);
  const bool sends = std::ranges::any_of(nodes_, [this](const HeldNode& node) { return is_unwatched(node); });
  if (sends) set.wake_at(session_.client().again_at());
}

// Not while recording: only now every source has recorded, including the session.
void Lease::decide() {
  if (state_ != LeaseState::held || nodes_.empty()) return;
  look();
  if (state_ != LeaseState::held) host::trace("lost", {{"why", name_of(state_)}, {"fence", fence_}});
}

void Lease::look() {
  // The clock comes first: after a pause of ours, the guard has killed the command already, whatever the answers that
  // have piled up say.
  const Deadline now = BootClock::now();
  if (now >= fence_ - grace_) {
    state_ = LeaseState::unproved;
    return;
  }
  if (heartbeat_.call && heartbeat_.call->done) take_heartbeat();
  for (HeldNode& node : nodes_) {
    if (node.call && node.call->done) take(node);
  }
  if (session_.expired()) state_ = LeaseState::session_over;
  if (state_ != LeaseState::held || !session_.connected()) return;
  if (connections_ != session_.client().connections()) {
    // The handshake alone proves nothing, because a leader may be deposed. So ask at once.
    connections_ = session_.client().connections();
    heartbeat_.next = now;
  }
  move_fence();
  if (!heartbeat_.call && (heartbeat_.asked || now >= heartbeat_.next)) send_heartbeat();
  if (now < session_.client().again_at()) return;
  for (HeldNode& node : nodes_) {
    if (is_unwatched(node)) send(node);
  }
}

bool Lease::is_unwatched(const HeldNode& node) const {
  return watched_ == LeaseWatch::nodes && !node.call && (!node.held.watch || node.held.watch->fired);
}

void Lease::send_heartbeat() {
  std::vector<std::string> nodes;
  for (const HeldNode& node : nodes_) nodes.push_back(node.held.node);
  heartbeat_.proof = session_.proof_now();
  heartbeat_.sent = BootClock::now();
  heartbeat_.asked = false;
  host::trace("asking");
  heartbeat_.call = session_.client().check(nodes);
}

void Lease::take_heartbeat() {
  // An answer that proves nothing, like a throttling server's, is no reason to ask more often.
  heartbeat_.next = heartbeat_.sent + zk::least_pause_of(session_.timeout());
  const Code code = std::exchange(heartbeat_.call, nullptr)->answer.code;
  if (code == Code::ok) {
    proved_ = heartbeat_.proof;
    fence_ = kNever;  // may grow
    host::trace("proved", {{"sent", heartbeat_.sent}, {"fence", proved_ + zk::fence_of(session_.timeout())}});
    heartbeat_.next = heartbeat_.sent + zk::heartbeat_of(session_.timeout());
  } else if (code == Code::no_node) {
    state_ = LeaseState::node_deleted;
    if (nodes_.size() == 1) lost_ = nodes_.front().held.path;
  }
  move_fence();
}

// A reconnect may negotiate another timeout. A shorter one counts at once, a longer one from the next proof on.
void Lease::move_fence() {
  fence_ = std::min(fence_, proved_ + zk::fence_of(session_.timeout()));
}

void Lease::send(HeldNode& node) {
  node.held.watch = std::make_shared<zk::WatchState>();
  node.call = session_.client().read(node.held.node, node.held.watch);
}

void Lease::take(HeldNode& node) {
  const zk::Answer answer = std::exchange(node.call, nullptr)->answer;
  const bool there = answer.code == Code::ok && answer.stat.ephemeral_owner == node.held.owner;
  if (there) {
    if (answer.data == kRevoked) end(LeaseState::revoked, node.held);
  } else if (answer.code == Code::ok || answer.code == Code::no_node) {
    end(LeaseState::node_deleted, node.held);
  } else if (answer.code == Code::unknown) {
    // The answer was lost with the connection, so the node is read again. After a refusal that would be useless: then
    // only the heartbeats go on.
    node.held.watch.reset();
  }
}

void Lease::end(LeaseState state, const Held& held) {
  state_ = state;
  lost_ = held.path;
}

}  // namespace zklock::recipe
