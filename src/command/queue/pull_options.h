// SPDX-License-Identifier: Apache-2.0
// Which items are taken out of a queue, and how long they are waited for.
#pragma once

#include "base/time.h"

#include <optional>
#include <string>

namespace zklock::command {

struct PullOptions {
  std::string path;
  std::string note;              // for our claims and our place in line
  std::string end = "\n";        // behind each item that is written
  std::optional<size_t> most;    // items; nothing: as many as there are
  bool all = false;              // until the queue has none, in work included
  bool follow = false;           // for ever
  std::optional<Duration> idle;  // how long to wait for an item at most; nothing: for ever with `all` or `follow`, else
                                 // not at all

  bool waits() const { return idle ? *idle > Duration::zero() : all || follow; }
};

}  // namespace zklock::command
