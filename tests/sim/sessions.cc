// SPDX-License-Identifier: Apache-2.0
#include "sessions.h"

#include "tree.h"

namespace zklock::sim {

void Sessions::begin(Time tick, const std::map<int64_t, int32_t>& timeouts) {
  tick_ = tick;
  phase_ = world->random.below(tick);
  sessions_.clear();
  for (const auto& [session, timeout] : timeouts) add(session, timeout, kAnyOwner);
}

void Sessions::add(int64_t session, int32_t timeout, int owner) {
  sessions_[session] = {};
  renew(session, timeout, owner);
}

bool Sessions::touch(int64_t session, int32_t timeout) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.closing) return false;
  found->second.expires = round_up(world->now + timeout * ms);
  found->second.lives_until = world->now + timeout * ms;
  return true;
}

bool Sessions::renew(int64_t session, int32_t timeout, int owner) {
  if (!touch(session, timeout)) return false;
  sessions_[session].owner = owner;
  return true;
}

int32_t Sessions::check(int64_t session, int owner) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.closing) return error::session_expired;
  int& current = found->second.owner;
  if (current == kAnyOwner) current = owner;
  return current == owner ? 0 : error::session_moved;
}

void Sessions::close(int64_t session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.closing = true;
}

std::vector<int64_t> Sessions::take_expired() {
  std::vector<int64_t> expired;
  for (auto& [id, session] : sessions_) {
    if (session.closing || session.expires > world->now) continue;
    session.closing = true;
    expired.push_back(id);
  }
  return expired;
}

void Sessions::announce(int64_t session, int32_t timeout) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && !found->second.closing) found->second.lives_until = world->now + timeout * ms;
}

Time Sessions::lives_until(int64_t session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? 0 : found->second.lives_until;
}

}  // namespace zklock::sim
