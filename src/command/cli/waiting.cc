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

Deadline WaitSpan::latest(Deadline again, const zk::Session& session) const {
  return again < kNever && left_until(until) > left_until(again) + 2 * session.round_trip() ? again : until;
}

namespace {

// Returns once a look is due, or the next one would be due only after the deadline. Returns false if the time is over.
bool wait_until_due(zk::Session& session, const WaitSpan& span, const std::function<Deadline()>& due) {
  for (Deadline next = due(); left_until(next) > Duration::zero(); next = due()) {
    if (next != kNever && next > span.until) break;
    if (left_until(span.until) == Duration::zero()) return false;
    session.turn(std::min(next, span.until));
  }
  return left_until(span.until) > Duration::zero();
}

}  // namespace

bool wait_until_met(zk::Session& session, const WaitSpan& span, const std::function<bool()>& look,
                    const std::function<Deadline()>& due) {
  const zk::Within within(session, span.until);
  return zk::in_sessions(session, [&] {
    while (!look()) {
      if (!span.waits || !wait_until_due(session, span, due)) return false;
    }
    return true;
  });
}

}  // namespace zklock::command
