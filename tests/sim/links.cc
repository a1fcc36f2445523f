// SPDX-License-Identifier: Apache-2.0
#include "links.h"

#include <algorithm>

namespace zklock::sim {

namespace {

std::pair<int, int> ends(int a, int b) {
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

Time Links::blocked_until(int a, int b) const {
  const auto found = blocked_.find(ends(a, b));
  return found == blocked_.end() ? 0 : found->second;
}

void Links::partition(int a, int b, Time until) {
  Time& old = blocked_[ends(a, b)];
  old = std::max(old, until);
}

Time Links::latency(int from, int to) {
  Time span = world->random.between(options_.latency_min, options_.latency_max);
  for (const int end : {from, to}) {
    const auto found = slow_.find(end);
    if (found != slow_.end() && found->second.second > world->now) span += world->random.below(found->second.first);
  }
  return span;
}

void Links::send(int from, int to, Action action) {
  const Member& sender = members_[static_cast<size_t>(from)];
  const Member& receiver = members_[static_cast<size_t>(to)];
  // The connection to a leader that has been another one since is gone.
  if (sender.leader == to && !sender.follows(receiver)) return;
  Way& way = ways_[{from, to}];
  way.last = std::max(world->now + latency(from, to), way.last);
  way.messages.push_back({way.last, sender.round, receiver.round, std::move(action)});
  if (std::exchange(way.pumped, true)) return;
  world->at(way.last, [this, from, to] { deliver(from, to); });
}

bool Links::is_void(const Message& message, int from, int to) const {
  const Member& receiver = members_[static_cast<size_t>(to)];
  return members_[static_cast<size_t>(from)].round != message.from_round || receiver.round != message.to_round ||
         !receiver.up;
}

Time Links::due(const Message& message, int from, int to) {
  if (is_void(message, from, to)) return world->now;
  if (!reachable(from, to)) return blocked_until(from, to) + world->random.between(1 * ms, 300 * ms);
  const Time paused_until = members_[static_cast<size_t>(to)].paused_until;
  return paused_until > world->now ? paused_until + world->random.below(3 * ms) : message.arrives;
}

void Links::deliver(int from, int to) {
  Way& way = ways_[{from, to}];
  way.pumped = false;
  while (!way.messages.empty()) {
    const Time when = due(way.messages.front(), from, to);
    if (when > world->now) {
      way.pumped = true;
      return world->at(when, [this, from, to] { deliver(from, to); });
    }
    const Message message = std::move(way.messages.front());
    way.messages.pop_front();
    if (!is_void(message, from, to)) message.action();
    if (way.pumped) return;
  }
}

void Links::heal() {
  blocked_.clear();
  slow_.clear();
  for (auto& [pair, way] : ways_) {
    for (Message& message : way.messages) message.arrives = std::min(message.arrives, world->now);
    way.last = world->now;
    deliver(pair.first, pair.second);
  }
}

}  // namespace zklock::sim
