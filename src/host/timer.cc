// SPDX-License-Identifier: Apache-2.0
#include "host/timer.h"

#include "host/system_error.h"

#include <algorithm>
#include <sys/timerfd.h>

namespace zklock::host {

Timer::Timer() : fd_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_) throw system_error("cannot make a timer");
}

void Timer::set(Deadline moment) {
  if (moment == moment_) return;
  moment_ = moment;
  itimerspec setting{};  // zero: disarmed
  if (moment != kNever) {
    // Zero would disarm it, and a moment before the machine's start is as good as one just after.
    const Duration since_boot = std::max(moment.time_since_epoch(), Duration(1));
    setting.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(since_boot).count();
    setting.it_value.tv_nsec = (since_boot % std::chrono::seconds(1)).count();
  }
  if (timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &setting, nullptr) != 0) throw system_error("cannot set a timer");
}

}  // namespace zklock::host
