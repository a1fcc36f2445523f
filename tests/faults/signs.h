// SPDX-License-Identifier: Apache-2.0
// What the commands of the fault suite share: the clock, and the file that says how long to stay.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <unistd.h>

namespace faults {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kBetweenSigns = 4;  // milliseconds

inline int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * 1000 * kMillisecond + time.tv_nsec;
}

// Returns until when a command must live if it entered before the first moment in the file `stay`; 0 for others.
inline int64_t stay_until(int stay, int64_t entered) {
  char text[64] = "";
  int64_t from = 0;
  int64_t until = 0;
  if (pread(stay, text, sizeof text - 1, 0) <= 0) return 0;
  if (sscanf(text, "%" SCNd64 " %" SCNd64, &from, &until) != 2) return 0;
  return entered < from ? until : 0;
}

}  // namespace faults
