// SPDX-License-Identifier: Apache-2.0
// Bounds a loop that tries again because another client was faster. Such a loop soon ends by itself, unless the server
// gives the same answer each time. For example, a node that stays may have the wanted name.
#pragma once

#include "base/failure.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace zklock {

class Rounds {
 public:
  // `tried` is for the message: "cannot join /g".
  explicit Rounds(std::string_view tried) : tried_(tried) {}

  // Counts one round. Throws a Failure (69) when there have been too many.
  void next() {
    if (++count_ < kMost) return;
    throw Failure(
        ExitStatus::unavailable,
        fmt::format("{}: others were faster {} times in a row, or a node there is in the way", tried_, kMost));
  }

 private:
  static constexpr int kMost = 1000;

  std::string tried_;
  int count_ = 0;
};

}  // namespace zklock
