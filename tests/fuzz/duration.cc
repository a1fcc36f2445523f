// SPDX-License-Identifier: Apache-2.0
// Reads durations, and the numbers that they are made of.
#include "base/time.h"
#include "fuzz/fuzz.h"

#include <cmath>

using namespace zklock;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const auto duration = parse_duration(input);
  if (duration) {
    check(*duration >= Duration::zero() && *duration <= std::chrono::hours(100 * 365 * 24), "it can be counted", input);
    check(deadline_in(*duration) > BootClock::now() - std::chrono::hours(1), "its deadline is not in the past", input);
    std::string shown = format_duration(*duration);
    std::erase(shown, ' ');
    const auto again = parse_duration(shown);
    check(again && *again <= *duration + std::chrono::milliseconds(50), "it is read again as it is shown", shown);
  }
  const auto number = parse_number(input);
  check(!number || *number >= 0, "a number has no sign", input);
  const auto decimal = parse_decimal(input);
  check(!decimal || (std::isfinite(*decimal) && *decimal >= 0), "a decimal number is finite", input);
  const auto real = parse_real(input);
  check(!real || std::isfinite(*real), "a number is finite", input);
  check(!decimal || real, "each decimal number is a number", input);
  return 0;
}
