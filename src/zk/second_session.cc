// SPDX-License-Identifier: Apache-2.0
#include "zk/second_session.h"

#include "zk/timing.h"

#include <algorithm>

namespace zklock::zk {

// Two attempts at dead servers may come first.
Deadline SecondSession::confirmed_at() {
  if (!connected()) return connected_since_ = kNever;
  connected_since_ = std::min(connected_since_, BootClock::now());
  return connected_since_ + 2 * patience_of(client_.session_timeout());
}

}  // namespace zklock::zk
