// SPDX-License-Identifier: Apache-2.0
#include "command/lock/restart.h"

#include "base/failure.h"
#include "host/loop.h"
#include "host/signals.h"
#include "host/terminal.h"

#include <algorithm>

#include <fmt/format.h>

namespace zklock::command {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;  // an attempt that lasted longer is followed by the first again

void pause(Duration span) {
  host::Loop loop;
  host::Signals signals;
  host::EndOnSignal end_on_signal(signals);
  const host::Attached receiving(loop, signals);
  const host::Attached ending(loop, end_on_signal);
  const Deadline until = deadline_in(span);
  while (left_until(until) > Duration::zero()) loop.turn(until);
}

bool is_worth_another(const Failure& failure, const Course& course) {
  if (failure.signal() != 0 || course.over) return false;
  return failure.status() == ExitStatus::lost || (failure.status() == ExitStatus::unavailable && course.connected);
}

}  // namespace

int restart_after_loss(const std::function<int(Course&)>& attempt) {
  Duration span = kFirstPause;
  for (Course course;;) {
    const Deadline began = BootClock::now();
    try {
      return attempt(course);
    } catch (const Failure& failure) {
      if (!is_worth_another(failure, course)) throw;
      if (BootClock::now() - began > kLongestPause) span = kFirstPause;
      host::say_error(fmt::format("{}; trying again in {}", failure.text(), format_duration(span)));
    }
    pause(span);
    span = std::min(2 * span, kLongestPause);
  }
}

}  // namespace zklock::command
