// SPDX-License-Identifier: Apache-2.0
#include "recipe/wait.h"

#include "recipe/lease.h"

#include <algorithm>

namespace zklock::recipe {

using Outcome = Lockable::Outcome;

std::optional<Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                       const Patience& patience, WaitObserver& observer,
                                       const std::function<const Holder&()>& look_around) {
  const auto fired = [](const zk::Watch& watch) { return watch->fired; };
  while (std::none_of(watches.begin(), watches.end(), fired)) {
    if (session.expired()) return Outcome::expired;
    if (patience.kept && patience.kept->state() != Lease::State::held) return Outcome::disturbed;
    if (left_until(patience.until) == Duration::zero()) {
      look_around();
      return Outcome::busy;
    }
    session.turn(std::min(patience.until, observer.next_look()));
    if (BootClock::now() >= observer.next_look()) observer.on_holder(look_around());
  }
  if (session.expired()) return Outcome::expired;
  return std::nullopt;
}

}  // namespace zklock::recipe
