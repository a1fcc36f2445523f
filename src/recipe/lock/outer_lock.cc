// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock/outer_lock.h"

#include <fmt/format.h>

namespace zklock::recipe {

// A node's czxid is its own for ever, so what it was found to be by name and czxid it still is if it is there.
OuterLock::Outcome OuterLock::acquire(const Patience& patience) {
  for (;;) {
    session_.ready(patience.until);
    held_.proved = BootClock::now();
    const zk::Answer check = session_.await(session_.client().check({held_.node}), patience.until);
    acquired_ = check.code == zk::Code::ok;
    if (acquired_) return Outcome::held;
    if (check.code == zk::Code::no_node) return Outcome::disturbed;
    if (check.code == zk::Code::expired) return Outcome::expired;
    if (check.code == zk::Code::unknown) continue;
    throw zk::failure_of(fmt::format("cannot take {}", held_.path), check);
  }
}

bool OuterLock::release(Duration budget) {
  const Deadline until = deadline_in(budget);
  while (acquired_ && session_.settle_connection(until)) {
    const zk::Call check = session_.client().check({held_.node});
    if (!session_.settle(check, until)) break;
    if (check->answer.code == zk::Code::unknown) continue;
    was_deleted_ = check->answer.code == zk::Code::no_node;
    acquired_ = false;
  }
  return !acquired_ || session_.expired();
}

}  // namespace zklock::recipe
