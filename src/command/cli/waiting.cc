// SPDX-License-Identifier: Apache-2.0
#include "command/cli/waiting.h"

#include <algorithm>

namespace zklock::command {

WaitSpan::WaitSpan(const Value& timeout) {
  if (!timeout) return;
  const Duration span = duration_of(*timeout, "--timeout");
  waits = span > Duration::zero();
  if (waits) until = deadline_in(span);
}

bool wait_until_met(zk::Session& session, const WaitSpan& span, const std::function<Awaited()>& look,
                    const std::function<Deadline()>& due) {
  const zk::Within within(session, span.until);
  session.open();
  for (;;) {
    const Awaited seen = look();
    if (seen == Awaited::met) return true;
    if (seen == Awaited::expired) {
      session.open();
      continue;
    }
    if (!span.waits) return false;
    for (Deadline next = due(); left_until(next) > Duration::zero(); next = due()) {
      if (next != kNever && next > span.until) break;
      if (left_until(span.until) == Duration::zero()) return false;
      session.turn(std::min(next, span.until));
    }
    if (left_until(span.until) == Duration::zero()) return false;
  }
}

}  // namespace zklock::command
