// SPDX-License-Identifier: Apache-2.0
// Whether a path is a queue of ours. What is anything else is refused and not touched.
#pragma once

#include "recipe/queue/layout.h"
#include "zk/session.h"

#include <string_view>

namespace zklock::recipe {

enum class QueueState {
  there,
  absent,
  expired,  // nothing is known: the session is over
};

// Throws a Failure where the path is used for something else (65) or may not be read (77); `tried` is for that:
// "cannot push to /q". All functions here throw what the session throws, too.
QueueState look_at_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until);

// The same, and makes it where it is absent, in one transaction; the nodes above it before that. There afterwards,
// unless the session has expired.
QueueState make_queue(zk::Session& session, const QueueLayout& layout, std::string_view tried, Deadline until);

}  // namespace zklock::recipe
