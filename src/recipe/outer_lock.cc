// SPDX-License-Identifier: Apache-2.0
#include "recipe/outer_lock.h"

#include <fmt/format.h>

namespace zklock::recipe {

// A node's czxid is its own for ever, so what it was found to be by name and czxid it still is if it is there.
OuterLock::Outcome OuterLock::acquire(const Patience& patience) {
  for (;;) {
    session_.ready(patience.until);
    held_.proved = BootClock::now();
    const zk::Answer check = session_.await(session_.client().check({held_.node}), patience.until);
    if (check.code == zk::Code::ok) return Outcome::held;
    if (check.code == zk::Code::no_node) return Outcome::disturbed;
    if (check.code == zk::Code::expired) return Outcome::expired;
    if (check.code == zk::Code::unknown) continue;
    throw zk::failure_of(fmt::format("cannot take {}", held_.path), check);
  }
}

}  // namespace zklock::recipe
