// SPDX-License-Identifier: Apache-2.0
#include "command/cli/waiting.h"

namespace zklock::command {

WaitSpan::WaitSpan(const Value& timeout) {
  if (!timeout) return;
  const Duration span = duration_of(*timeout, "--timeout");
  waits = span > Duration::zero();
  if (waits) until = deadline_in(span);
}

bool wait_until_met(zk::Session& session, const WaitSpan& span, const std::function<Awaited()>& look,
                    const std::function<bool()>& is_stale) {
  session.open(span.until);
  for (;;) {
    const Awaited seen = look();
    if (seen == Awaited::met) return true;
    if (seen == Awaited::expired) {
      session.open(span.until);
      continue;
    }
    while (span.waits && !is_stale() && left_until(span.until) > Duration::zero()) session.turn(span.until);
    if (!span.waits || left_until(span.until) == Duration::zero()) return false;
  }
}

}  // namespace zklock::command
