// SPDX-License-Identifier: Apache-2.0
// An item of a queue that we work on. Its claim is ours as long as the session `owner` lives, and nobody can remove an
// item with a claim on it.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <string>

namespace zklock::recipe {

struct Item {
  std::string path;
  std::string data;
  int64_t created_ms = 0;  // when it was pushed, the server's clock, ms since 1970
  int64_t attempts = 0;    // claims that count, this one included
  int64_t owner = 0;       // the session that made the claim
  int64_t token = 0;       // the claim's czxid: grows from one claim on it to the next
  Deadline proved{};       // a moment since which a quorum has known of our claim
};

}  // namespace zklock::recipe
