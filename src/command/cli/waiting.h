// SPDX-License-Identifier: Apache-2.0
// Until something is so, at most for the time that -w gives.
#pragma once

#include "command/cli/options.h"

#include <functional>

namespace zklock::command {

struct WaitSpan {
  // From now on. Throws a Failure (64) for a bad duration.
  explicit WaitSpan(const Value& timeout);

  bool waits = true;        // -w 0 does not: it looks once, for which it leaves the time to connect and to look
  Deadline until = kNever;  // connecting included
};

enum class Awaited {
  met,
  unmet,
  expired,  // nothing was seen: the session is over
};

// Looks now and whenever that is `due`; what would be due only after the time is over is looked at at once. False when
// the time is over first. Opens the session, and another one when it has expired. Throws what the session throws.
bool wait_until_met(zk::Session& session, const WaitSpan& span, const std::function<Awaited()>& look,
                    const std::function<Deadline()>& due);

}  // namespace zklock::command
