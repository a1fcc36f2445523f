// SPDX-License-Identifier: Apache-2.0
// While no server answers, the C library logs the same few lines with each attempt, fifteen a second. This tells which
// of them to show: the same one again after a second, then after two, four and so on up to half a minute. Pure.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zklock::zk {

class LogThinner {
 public:
  // How many like it were left out since the last one that was shown; nothing: leave this one out too.
  std::optional<int64_t> show(std::string_view line, Deadline now);

 private:
  struct Said {
    Deadline next{};
    Duration pause{};
    int64_t left_out = 0;
  };

  std::map<std::string, Said, std::less<>> said_;
};

}  // namespace zklock::zk
