// SPDX-License-Identifier: Apache-2.0
// Waits until a condition is met, at most for the time that -w gives.
#pragma once

#include "command/cli/options.h"

#include <functional>

namespace zklock::command {

struct WaitSpan {
  // The span begins now. Throws a Failure (64) for a bad duration.
  explicit WaitSpan(const Value& timeout);

  bool waits = true;        // false with -w 0: looks once, with no limit for connecting and looking
  Deadline until = kNever;  // connecting included

  // Returns when to look once more though no watch has fired. This is `again`, or the end of the span if an answer to a
  // look at `again` might come too late.
  Deadline latest(Deadline again, const zk::Session& session) const;
};

// Calls `look` now and whenever it is `due`, until it returns true: the condition is met. If the next look is due only
// after the deadline, it looks at once, for the last time. Returns false if the time is over first. Opens the session,
// and a new one if it has expired. Throws what the session throws.
bool wait_until_met(zk::Session& session, const WaitSpan& span, const std::function<bool()>& look,
                    const std::function<Deadline()>& due);

}  // namespace zklock::command
