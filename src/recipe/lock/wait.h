// SPDX-License-Identifier: Apache-2.0
// Waiting for a change among the nodes that stand before ours.
#pragma once

#include "recipe/lock/lockable.h"
#include "zk/session.h"

#include <functional>
#include <optional>
#include <vector>

namespace zklock::recipe {

// At most, to learn the holder's name for a message.
constexpr Duration kLastLook = std::chrono::seconds(1);

// Completes `holder` with what stands on his node, if that is to be had at once.
void read_holder(zk::Session& session, const std::string& node, Holder& holder);

// Nothing when one of the watches has fired, or `awake` has come without that: look again. Else how the waiting ended:
// busy, when the patience is over; expired; disturbed. `look_around` is called to find out who is in the way, whenever
// the observer wants to know and when the time is over.
std::optional<Lockable::Outcome> wait_for_change(zk::Session& session, const std::vector<zk::Watch>& watches,
                                                 const Patience& patience, WaitObserver& observer,
                                                 const std::function<const Holder&()>& look_around,
                                                 Deadline awake = kNever);

}  // namespace zklock::recipe
