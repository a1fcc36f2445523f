// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/wait.h"

#include <algorithm>

namespace zklock::recipe {

void read_holder(zk::Session& session, const std::string& node, Holder& holder) {
  if (!session.connected()) return;
  const zk::Call read = session.client().read(node);
  if (!session.settle(read, deadline_in(kLastLook)) || read->answer.code != zk::Code::ok) return;
  holder.known = true;
  holder.data = read->answer.data;
  holder.since_ms = read->answer.stat.created_ms;
}

std::optional<Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                       const Patience& patience, WaitObserver& observer,
                                       const std::function<const Holder&()>& look_around, Deadline awake) {
  const auto fired = [](const zk::Watch& watch) { return watch->fired; };
  while (std::none_of(watches.begin(), watches.end(), fired)) {
    if (session.expired()) return Outcome::expired;
    if (patience.disturbed && patience.disturbed()) return Outcome::disturbed;
    if (left_until(patience.until) == Duration::zero()) {
      look_around();
      return Outcome::busy;
    }
    if (left_until(awake) == Duration::zero()) return std::nullopt;
    session.turn(std::min({patience.until, observer.next_look(), awake}));
    if (BootClock::now() >= observer.next_look()) observer.on_holder(look_around());
  }
  if (session.expired()) return Outcome::expired;
  return std::nullopt;
}

}  // namespace zklock::recipe
